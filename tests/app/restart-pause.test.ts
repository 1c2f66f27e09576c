import { beforeEach, expect, it, vi } from 'vitest'
import { loadConfig } from '../../src/app/settings/config.ts'
import { Supervisor } from '../../src/app/process/supervisor.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { until } from './call.ts'

/** Fake processes that start immediately and exit when `die` is called. */
const { FakeProcess, forked } = vi.hoisted(() => {
  const forked: FakeProcess[] = []
  class FakeProcess {
    readonly #ended = Promise.withResolvers<{ code: number; signal: null }>()
    readonly pid: number
    isStarted = false
    beforeStart: Promise<unknown> = Promise.resolve()

    constructor() {
      forked.push(this)
      this.pid = forked.length
    }

    get ended() {
      return this.#ended.promise
    }

    async start() {
      await this.beforeStart
      this.isStarted = true
      return { url: 'http://127.0.0.1:1', bootstrapKey: null, exampleModel: '' }
    }

    async stop() {
      this.die()
    }

    die() {
      this.#ended.resolve({ code: 1, signal: null })
    }
  }
  return { FakeProcess, forked }
})

vi.mock(import('../../src/app/process/gateway-process.ts'), () => ({ GatewayProcess: FakeProcess as never }))

beforeEach(() => {
  forked.length = 0
})

it('a process that keeps dying waits longer each time, and the others do not wait for it', async () => {
  const pauses: [pid: number, pauseMs: number][] = []
  const logger = {
    ...silentLogger,
    error: (details: object) => {
      if ('processPid' in details && 'pauseMs' in details)
        pauses.push([Number(details.processPid), Number(details.pauseMs)])
    },
  }
  const config = loadConfig({ environment: { PORT: '0', PARKWAY_PROCESSES: '2' }, directory: '/nowhere' })
  const supervisor = new Supervisor({ config, logger })
  await supervisor.start('postgres://nowhere')

  // The first process, its replacement, and the replacement of the replacement: pids 1, 3 and 4.
  for (const pid of [1, 3, 4]) {
    const victim = await until(() => forked.find((process) => process.pid === pid && process.isStarted))
    victim.die()
  }
  await until(() => pauses.length === 3)
  forked[1]?.die()
  await until(() => pauses.length === 4)
  expect(pauses).toEqual([
    [1, 400],
    [3, 800],
    [4, 1600],
    [2, 400],
  ])
  await supervisor.close()
})

it('a process that dies while the others are starting is replaced', async () => {
  const config = loadConfig({ environment: { PORT: '0', PARKWAY_PROCESSES: '2' }, directory: '/nowhere' })
  const supervisor = new Supervisor({ config, logger: silentLogger })
  const [first, second] = forked
  if (second !== undefined) second.beforeStart = until(() => first?.isStarted).then(() => first?.die())
  await supervisor.start('postgres://nowhere')
  await until(() => forked[2]?.isStarted)
  await supervisor.close()
})
