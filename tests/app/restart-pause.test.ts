import { beforeEach, expect, it, vi } from 'vitest'
import { loadConfig } from '../../src/app/settings/config.ts'
import type { FirstKey } from '../../src/app/process/process-messages.ts'
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

    readonly onFirstKey: (key: FirstKey) => void

    constructor({ onFirstKey }: { onFirstKey: (key: FirstKey) => void }) {
      this.onFirstKey = onFirstKey
      forked.push(this)
      this.pid = forked.length
    }

    get ended() {
      return this.#ended.promise
    }

    async start() {
      await this.beforeStart
      this.isStarted = true
      return { url: `http://127.0.0.1:${this.pid}`, bootstrapKey: null, signInCode: null, exampleModel: '' }
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
  const supervisor = new Supervisor({ config, logger, onFirstKey: () => {} })
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
  const supervisor = new Supervisor({ config, logger: silentLogger, onFirstKey: () => {} })
  const [first, second] = forked
  if (second !== undefined) second.beforeStart = until(() => first?.isStarted).then(() => first?.die())
  await supervisor.start('postgres://nowhere')
  await until(() => forked[2]?.isStarted)
  await supervisor.close()
})

const NEVER = new Promise<never>(() => {})
const KEY = { bootstrapKey: 'pk-dev-first', signInCode: 'code' }

function supervise(processes: number): { supervisor: Supervisor; keys: FirstKey[] } {
  const keys: FirstKey[] = []
  const config = loadConfig({
    environment: { PORT: '0', PARKWAY_PROCESSES: String(processes) },
    directory: '/nowhere',
  })
  const supervisor = new Supervisor({ config, logger: silentLogger, onFirstKey: (key) => keys.push(key) })
  return { supervisor, keys }
}

it('a gateway with one ready process has started, however long the others take', async () => {
  const { supervisor } = supervise(3)
  const [, second, third] = forked
  if (second !== undefined) second.beforeStart = NEVER
  if (third !== undefined) third.beforeStart = Promise.reject(new Error('this one failed'))
  expect(await supervisor.start('postgres://nowhere')).toMatchObject({ url: 'http://127.0.0.1:1' })
  third?.die()
  await until(() => forked[3]?.isStarted)
  await supervisor.close()
})

it('a gateway starts if only its last process can, and fails with the first reason if none can', async () => {
  const partly = supervise(3)
  for (const process of forked.slice(0, 2)) process.beforeStart = Promise.reject(new Error('not this one'))
  expect(await partly.supervisor.start('postgres://nowhere')).toMatchObject({ url: 'http://127.0.0.1:3' })
  await partly.supervisor.close()
  forked.length = 0
  const { supervisor } = supervise(3)
  for (const process of forked) process.beforeStart = Promise.reject(new Error(`failure ${process.pid}`))
  await expect(supervisor.start('postgres://nowhere')).rejects.toThrow('failure 1')
})

it('the first key is passed on when it is created, before and after the start', async () => {
  const early = supervise(2)
  const [creator] = forked
  if (creator !== undefined) creator.beforeStart = Promise.resolve().then(() => creator.onFirstKey(KEY))
  expect(await early.supervisor.start('postgres://nowhere')).toMatchObject(KEY)
  expect(early.keys).toEqual([KEY])
  await early.supervisor.close()
  forked.length = 0
  const late = supervise(2)
  expect(await late.supervisor.start('postgres://nowhere')).toMatchObject({ bootstrapKey: null })
  forked[1]?.onFirstKey(KEY)
  expect(late.keys).toEqual([KEY])
  await late.supervisor.close()
})
