import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { findTree } from '../../src/gpu/local/process-tree.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { eventually } from '../support/eventually.ts'
import { createLocalStage, SCRIPTED, type LocalStage } from './local-stage.ts'

const LAUNCHER = join(import.meta.dirname, 'engines/launch-and-wait.ts')

let stage: LocalStage
const open = async (settings?: object, path?: string): Promise<LocalStage> => {
  // Without a sandbox, whose own processes would be counted too.
  stage = await createLocalStage({ sandbox: 'off', ...settings }, path)
  return stage
}
afterEach(() => stage.close())

const readState = async (instanceId: string) =>
  JSON.parse(await readFile(join(stage.directory, 'instances', instanceId, 'state.json'), 'utf8'))

const launchReady = async (given: Parameters<LocalStage['order']>[0] = {}) => {
  const order = stage.order(given)
  await stage.driver.launch(order)
  await stage.settle()
  expect((await stage.driver.observe(order.instanceId)).state).toBe('ready')
  return order.instanceId
}

const say = async (instanceId: string, content: string): Promise<boolean> => {
  const { endpoint } = await stage.driver.observe(instanceId)
  const body = JSON.stringify({ messages: [{ role: 'user', content }] })
  return fetch(`${endpoint}/chat/completions`, { method: 'POST', body }).then(
    ({ ok }) => ok,
    () => false,
  )
}

describe('an engine of this machine', () => {
  test('outlives the process that launched it: another process can observe and stop it', async () => {
    await open()
    const id = await launchReady()
    const other = stage.createDriver()
    const seen = await other.observe(id)
    expect(seen).toEqual(await stage.driver.observe(id))
    await other.stop(id)
    await eventually(async () => expect((await stage.driver.observe(id)).state).toBe('gone'))
  })

  test('keeps running when the process that launched it is killed', async () => {
    await open()
    const order = stage.order()
    const options = { directory: stage.directory, order, settings: SCRIPTED }
    const launcher = spawn(process.execPath, [LAUNCHER, JSON.stringify(options)], { stdio: 'pipe' })
    await once(launcher.stdout, 'data')
    launcher.kill('SIGKILL')
    await once(launcher, 'exit')
    await eventually(async () => expect((await stage.driver.observe(order.instanceId)).state).toBe('ready'))
    expect(await say(order.instanceId, 'Hello!')).toBe(true)
    // The next process finds no stored run of it, and stops it.
    expect(await stage.driver.sweep(async () => new Set())).toEqual([order.instanceId])
    await eventually(async () => expect(await findTree(order.instanceId, null)).toEqual([]))
    await eventually(async () => expect((await stage.driver.observe(order.instanceId)).state).toBe('gone'))
  })

  test('is forgotten an hour after its end, and its port is released', async () => {
    await open()
    const id = await launchReady()
    await stage.driver.stop(id)
    await eventually(async () => expect((await stage.driver.observe(id)).state).toBe('gone'))
    const sweep = async (aheadMs: number) => {
      const clock = { ...systemClock, nowMs: () => Date.now() + aheadMs }
      await stage.createDriver(clock).sweep(async () => new Set())
      const places = await readdir(join(stage.directory, 'places'), { recursive: true })
      return [await readdir(join(stage.directory, 'instances')), places.filter((name) => name.includes(id))]
    }
    // Its keeper releases the place just after it has written that the engine ended.
    await eventually(async () =>
      expect(await sweep(3_000_000)).toEqual([[id], [expect.stringMatching(/^port-/)]]),
    )
    expect(await sweep(3_700_000)).toEqual([[], []])
  })

  test('is ended when its keeper is found dead, and its place is released', async () => {
    await open({ tiers: { cpu_local: { count: 1 } } })
    const id = await launchReady()
    const { keeper } = await readState(id)
    process.kill(keeper.pid, 'SIGKILL')
    await eventually(async () =>
      expect(await stage.createDriver().observe(id)).toMatchObject({
        state: 'failed',
        failure: { code: 'engine_crashed' },
      }),
    )
    expect(await findTree(id, null)).toEqual([])
    expect((await stage.driver.capacity())[0]?.availableCount).toBe(1)
  })

  test('is not mistaken for a later process with the same pid', async () => {
    await open()
    const id = await launchReady()
    const state = await readState(id)
    const later = { pid: process.pid, startedAt: 'another boot:1' }
    process.kill(state.keeper.pid, 'SIGKILL')
    const path = join(stage.directory, 'instances', id, 'state.json')
    await writeFile(path, JSON.stringify({ ...state, keeper: later, engine: later }))
    expect((await stage.driver.observe(id)).state).toBe('failed')
    expect(await findTree(id, null)).toEqual([])
  })

  test('ends with all its child processes, including other sessions and processes that ignore SIGTERM', async () => {
    await open()
    const [helper, stubborn] = [
      await launchReady({ environment: { SANDBOX_FAILURE: 'helper' } }),
      await launchReady({ environment: { SANDBOX_FAILURE: 'stubborn' } }),
    ]
    expect(await findTree(helper, null)).toHaveLength(2)
    await stage.close()
    for (const id of [helper, stubborn]) expect(await findTree(id, null)).toEqual([])
  })

  test('is restarted three times after crashes, and then fails with its last lines', async () => {
    await open()
    const id = await launchReady()
    let crashed: number | undefined
    for (let crash = 1; crash <= 4; crash += 1) {
      // The crashing engine may answer one more request before it exits.
      const { engine } = await eventually(async () => {
        const state = await readState(id)
        expect([state.phase, state.engine?.pid === crashed]).toEqual(['ready', false])
        return state
      })
      crashed = engine?.pid
      expect(await say(id, 'crash')).toBe(false)
    }
    await eventually(async () =>
      expect(await stage.driver.observe(id)).toMatchObject({
        state: 'failed',
        endpoint: null,
        failure: { code: 'engine_crashed', message: expect.stringContaining('status 3') },
      }),
    )
  })

  test('is restarted if it hangs after it was ready', async () => {
    await open({ hang_ms: 2_000 })
    const id = await launchReady()
    const { engine: first } = await readState(id)
    const hung = say(id, 'hang')
    await eventually(async () => {
      const { phase, engine } = await readState(id)
      expect([phase, engine?.pid === first.pid]).toEqual(['ready', false])
    })
    expect(await hung).toBe(false)
    expect(await say(id, 'Hello!')).toBe(true)
    expect((await stage.driver.logs(id, { linesMax: 100 })).join('\n')).toContain(
      'The engine answered no health check any more.',
    )
  })

  test('is ended if it uses more memory than its tier allows', async () => {
    await open({ tiers: { cpu_local: { ram_gb: 0.12 } } })
    const order = stage.order({ environment: { SANDBOX_FAILURE: 'hungry' } })
    await stage.driver.launch(order)
    await eventually(async () =>
      expect(await stage.driver.observe(order.instanceId)).toMatchObject({
        state: 'failed',
        failure: { code: 'out_of_memory' },
      }),
    )
  })

  test('cannot fill the disk with its output', async () => {
    await open()
    const id = await launchReady({ environment: { SANDBOX_FAILURE: 'noise' } })
    const directory = join(stage.directory, 'instances', id)
    // While the log is rotated, the newer file is missing for a moment.
    const sizes = await eventually(() =>
      Promise.all(['log', 'log.old'].map(async (name) => (await stat(join(directory, name))).size)),
    )
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256 * 1024)
    const lines = await eventually(async () => {
      const read = await stage.driver.logs(id, { linesMax: 100_000 })
      expect(read.some((line) => line.includes('Z 19999 x'))).toBe(true)
      return read
    })
    expect(lines.some((line) => line.includes('Z 0 x'))).toBe(false)
  })

  test('gets no unsafe path, option or variable from an order', async () => {
    await open()
    for (const huggingfaceId of ['../../etc', '--flag', 'a b', 'a\0b', '/etc/passwd', 'a/b/c', '']) {
      const order = stage.order({ huggingfaceId })
      await stage.driver.launch(order)
      expect([huggingfaceId, (await stage.driver.observe(order.instanceId)).failure?.code]).toEqual([
        huggingfaceId,
        'model_unsupported',
      ])
    }
    const id = await launchReady({
      environment: { LD_PRELOAD: '/tmp/evil.so', SANDBOX_FAILURE: '$(id) {port}' },
    })
    const log = (await stage.driver.logs(id, { linesMax: 100 })).join('\n')
    expect(log).toContain('the variable LD_PRELOAD is not allowed here and was left out')
    expect(/^\S+ environment (.*)$/m.exec(log)?.[1]).toBe(
      `CUDA_DEVICE_ORDER CUDA_VISIBLE_DEVICES ${process.getuid?.() === 0 ? 'HOME ' : ''}PARKWAY_ENGINE PATH SANDBOX_FAILURE`,
    )
    for (const hostile of ['..', '../../x', 'not-an-id'])
      expect([
        await stage.driver.logs(hostile, { linesMax: 5 }),
        (await stage.driver.observe(hostile)).state,
      ]).toEqual([[], 'gone'])
  })

  test('starts only once for the last place if several processes launch at the same time', async () => {
    await open({ tiers: { cpu_local: { count: 1 } } })
    const drivers = [stage.driver, stage.createDriver(), stage.createDriver()]
    const orders = drivers.flatMap((driver) => [0, 1].map(() => ({ driver, order: stage.order() })))
    await Promise.all(orders.map(({ driver, order }) => driver.launch(order)))
    await stage.settle()
    const states = await Promise.all(orders.map(({ order }) => stage.driver.observe(order.instanceId)))
    expect(states.filter(({ state }) => state === 'ready')).toHaveLength(1)
  })
})
