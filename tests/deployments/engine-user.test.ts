import { copyFile, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createLocalStage, SCRIPTED, type LocalStage } from './local-stage.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const isRoot = process.getuid?.() === 0

let stage: LocalStage | null = null
let hidden: string | null = null

afterEach(async () => {
  await stage?.close()
  if (hidden !== null) await removeDirectory(hidden)
  stage = null
  hidden = null
})

/** Starts an engine that looks around, and returns its log and what it saw. */
async function lookAround(settings: object = {}) {
  const own = await createLocalStage({ sandbox: 'off', ...settings })
  stage = own
  const order = own.order({ environment: { SANDBOX_FAILURE: 'peek' } })
  await own.driver.launch(order)
  return vi.waitFor(
    async () => {
      const log = (await own.driver.logs(order.instanceId, { linesMax: 100 })).join('\n')
      const seen = JSON.parse(/ peek (.*)$/m.exec(log)?.[1] ?? 'null')
      expect(seen).not.toBeNull()
      expect((await own.driver.observe(order.instanceId)).state).toBe('ready')
      return { log, seen }
    },
    { timeout: 60_000 },
  )
}

describe.runIf(isRoot)('an engine of a gateway that is root', () => {
  test("has its own user, and no access to the gateway's files and processes except its own directory", async () => {
    const { seen } = await lookAround()
    expect(seen).toMatchObject({
      uid: expect.any(Number),
      groups: [seen.gid],
      gid: expect.any(Number),
      readPlan: 'EACCES',
      listInstance: 'EACCES',
      listInstances: 'EACCES',
      listEngines: 'EACCES',
      listed: 'EACCES',
      writeInstance: 'EACCES',
      readEnvironment: 'EACCES',
      writeHome: 'done',
    })
    expect(seen.uid).toBeGreaterThan(0)
  })

  test('has the user that the operator names, also that of the gateway', async () => {
    expect((await lookAround({ user: 'nobody' })).seen).toMatchObject({ uid: 65_534 })
    await stage?.close()
    expect((await lookAround({ user: 'root' })).seen).toMatchObject({ uid: 0 })
  })

  test("runs as the gateway's user, and says so, if its own user cannot read the program", async () => {
    hidden = await mkdtemp(join(tmpdir(), 'parkway-hidden-'))
    const [node = '', engine = '', ...others] = SCRIPTED.command.flat()
    const path = join(hidden, 'engine.mjs')
    await copyFile(engine, path)
    const { log, seen } = await lookAround({ command: [node, path, ...others.slice(0, 4)] })
    expect(seen).toMatchObject({ uid: 0 })
    expect(log).toContain(`engines run as root, because the user`)
    expect(log).toContain(`cannot read ${path}`)
  })
})

describe.skipIf(isRoot)('an engine of a gateway that is an ordinary user', () => {
  test("runs as the gateway's user", async () => {
    expect((await lookAround()).seen).toMatchObject({ uid: process.getuid?.() })
  })
})
