import { chmod, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { findSandbox } from '../../src/gpu/local/engine-sandbox.ts'
import { chooseEngineUser } from '../../src/gpu/local/engine-user.ts'
import { createLocalStage, type LocalStage } from './local-stage.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const PATH = process.env['PATH'] ?? ''
const isRoot = process.getuid?.() === 0
const found = await findSandbox(PATH, (await chooseEngineUser(null)).user)
const reason = found.problem === null ? '' : ` (skipped: ${found.problem})`

let programs = ''
let stage: LocalStage | null = null

beforeEach(async () => {
  programs = await mkdtemp(join(tmpdir(), 'parkway-programs-'))
  await chmod(programs, 0o755)
})

afterEach(async () => {
  await stage?.close()
  stage = null
  await removeDirectory(programs)
})

/** Starts an engine that looks around, and returns what it saw. */
async function lookAround(settings: object, path = PATH) {
  const own = await createLocalStage(settings, path)
  stage = own
  const order = own.order({ environment: { SANDBOX_FAILURE: 'peek' } })
  await own.driver.launch(order)
  return vi.waitFor(
    async () => {
      const log = (await own.driver.logs(order.instanceId, { linesMax: 100 })).join('\n')
      const seen = JSON.parse(/ peek (.*)$/m.exec(log)?.[1] ?? 'null')
      expect(seen).not.toBeNull()
      expect((await own.driver.observe(order.instanceId)).state).toBe('ready')
      return { seen, order }
    },
    { timeout: 60_000 },
  )
}

/** A sandbox program that the kernel refuses. */
async function breakSandbox(): Promise<string> {
  const refusal = '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n'
  await writeFile(join(programs, 'bwrap'), refusal, { mode: 0o755 })
  return `${programs}:${PATH}`
}

async function launchUntilFailed(settings: object, path?: string) {
  const own = await createLocalStage(settings, path)
  stage = own
  const order = own.order()
  await own.driver.launch(order)
  return own.driver.observe(order.instanceId)
}

describe.skipIf(found.program === null)(`an engine in a sandbox${reason}`, () => {
  test('sees of the data directory only its working directory, and no process but its own', async () => {
    const { seen, order } = await lookAround({ sandbox: 'required' })
    expect(seen).toMatchObject({
      readPlan: 'ENOENT',
      writeInstance: 'EROFS',
      writeSystem: expect.stringMatching(/^(?:EROFS|EACCES)$/),
      hasOwnTemporary: true,
      writeHome: 'done',
    })
    const ownPath = `engines/instances/${order.instanceId}/work`
    const foreign = seen.listed.filter(
      (path: string) => !ownPath.startsWith(path) && !path.startsWith(`${ownPath}/`),
    )
    expect(foreign).toEqual([])
    expect(seen.processes).toBeLessThan(10)
  })

  test('is ended with its sandbox, and a crash is reported with its signal', async () => {
    const own = await createLocalStage({ sandbox: 'required' })
    stage = own
    const order = own.order({ environment: { SANDBOX_FAILURE: 'killed' } })
    await own.driver.launch(order)
    await own.settle()
    expect(await own.driver.observe(order.instanceId)).toMatchObject({
      state: 'failed',
      failure: { message: expect.stringContaining('SIGKILL') },
    })
  })
})

describe('a machine whose kernel refuses the sandbox', () => {
  test('starts engines without one', async () => {
    const { seen } = await lookAround({}, await breakSandbox())
    expect(seen.writeHome).toBe('done')
  })

  test('starts no engine if the settings require one', async () => {
    expect(await launchUntilFailed({ sandbox: 'required' }, await breakSandbox())).toMatchObject({
      state: 'failed',
      failure: { message: expect.stringContaining('cannot be isolated') },
    })
  })
})

test.runIf(isRoot)('an engine does not start as root if its named user does not exist', async () => {
  expect(await launchUntilFailed({ user: 'nobody-here' })).toMatchObject({
    state: 'failed',
    failure: { message: expect.stringContaining('cannot be isolated') },
  })
})
