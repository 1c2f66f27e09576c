import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDatabaseClock, type DatabaseClock } from './database-clock.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 0, 1)

const time = { machineMs: 0, databaseMs: 0, monotonicMs: 0, answerMs: 0, isAway: false }
const warnings: object[] = []
let clock: DatabaseClock

function pass(ms: number): void {
  time.machineMs += ms
  time.databaseMs += ms
  time.monotonicMs += ms
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  Object.assign(time, {
    machineMs: START_MS,
    databaseMs: START_MS,
    monotonicMs: 7.25,
    answerMs: 0,
    isAway: false,
  })
  warnings.length = 0
})

afterEach(() => {
  clock.close()
  vi.useRealTimers()
})

async function start(): Promise<void> {
  const query = async (): Promise<never[]> => {
    if (time.isAway) throw new Error('away')
    const nowMs = time.databaseMs
    pass(time.answerMs)
    return [{ now_ms: nowMs }] as never[]
  }
  clock = await createDatabaseClock({
    database: { query },
    clock: { nowMs: () => time.machineMs, monotonicMs: () => time.monotonicMs },
    logger: { info: () => {}, warn: (details) => warnings.push(details), error: () => {} },
    intervalMs: 1_000,
  })
}

test.each([40 * DAY_MS, -40 * DAY_MS])(
  'a machine that is %i ms off uses the database’s time',
  async (offMs) => {
    time.machineMs += offMs
    await start()
    expect(clock.nowMs()).toBe(START_MS)
    pass(1_500)
    expect(clock.nowMs()).toBe(START_MS + 1_500)
    expect(warnings).toEqual([{ differenceMs: offMs }])
    await vi.advanceTimersByTimeAsync(3_000)
    expect(warnings).toHaveLength(1)
  },
)

test('changing the machine’s clock has no effect', async () => {
  await start()
  time.machineMs -= 10 * DAY_MS
  expect(clock.nowMs()).toBe(START_MS)
})

test.each([40 * DAY_MS, -40 * DAY_MS])(
  'a change of the database’s clock by %i ms is followed',
  async (jumpMs) => {
    await start()
    time.databaseMs += jumpMs
    await vi.advanceTimersByTimeAsync(1_000)
    expect(clock.nowMs()).toBe(START_MS + jumpMs)
  },
)

test('a slow answer does not change a time that it agrees with', async () => {
  await start()
  time.answerMs = 3_000
  await vi.advanceTimersByTimeAsync(1_000)
  expect(clock.nowMs()).toBe(time.databaseMs)
})

test('time continues while the database is down', async () => {
  await start()
  time.isAway = true
  await vi.advanceTimersByTimeAsync(5_000)
  pass(9_000.5)
  expect(clock.nowMs()).toBe(START_MS + 9_000)
})
