import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createId } from '../../kernel/identifiers.ts'
import { openInstanceDirectory, type InstanceDirectory } from './instance-directory.ts'
import { takePort } from './places.ts'
import { removeDirectory } from '../../../tests/support/remove-directory.ts'

let path: string
let directory: InstanceDirectory
let port: number
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'parkway-places-'))
  directory = openInstanceDirectory(path)
  port = await findFreePort()
})
afterEach(() => removeDirectory(path))

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function createInstance(): Promise<string> {
  const instanceId = createId()
  await directory.create(instanceId, { orderedAtMs: 0 })
  return instanceId
}

const take = (instanceId: string) => takePort(directory, [port, port], instanceId)

test('a port whose holder has no record can be taken', async () => {
  const lost = await createInstance()
  await take(lost)
  await directory.remove(lost)
  expect(await take(await createInstance())).toBe(port)
})

test('the port of an ended instance stays taken while its record exists', async () => {
  const ended = await createInstance()
  await take(ended)
  await directory.writeState(ended, {
    phase: 'ended',
    keeper: null,
    engine: null,
    boundAtMs: null,
    releasedAtMs: null,
    failure: null,
  })
  await expect(take(await createInstance())).rejects.toThrow('no port')
})
