import * as fc from 'fast-check'
import type { QueryResultRow } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { longOr } from '../../../tests/support/long-or.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { connectDatabase } from '../connection/connect-database.ts'
import type { Database } from '../database.ts'
import type { MessageHandler } from '../bus/message-bus.ts'
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts'
import { createBorrowedRates, type BorrowedRates, type RateOutcome } from './borrowed-rates.ts'

let testDatabase: TestDatabase
let database: Database
let buckets = 0

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { connectionString } = testDatabase
  database = connectDatabase({ connectionString, poolSize: 4, statementTimeoutMs: 10_000 })
})

afterAll(async () => {
  await database.close()
  await testDatabase.drop()
})

/**
 * Starts processes that share a database, a message bus and a clock that the test controls. If `isFirstLate` is set, the first
 * process gets the response with its loan only after all processes were asked to give back.
 */
function startProcesses(count: number, { isFirstLate = false } = {}) {
  const recalled = Promise.withResolvers<void>()
  const time = { nowMs: 1_900_000_000_000 }
  const handlers: MessageHandler[] = []
  const outage = { isAway: false }
  const processes = Array.from({ length: count }, (_, index) =>
    createBorrowedRates({
      database: {
        query: async <Row extends QueryResultRow>(sql: string, values?: readonly unknown[]) => {
          if (outage.isAway) throw new Error('the server is gone')
          const rows = await database.query<Row>(sql, values)
          if (isFirstLate && index === 0) await recalled.promise
          return rows
        },
      },
      messageBus: {
        subscribe: (_topic, handler) => {
          handlers.push(handler)
          return () => {}
        },
        publishAndConfirm: async (_topic, payload) => {
          const handled = handlers.map(async (handler) => handler(payload))
          recalled.resolve()
          await Promise.all(handled)
          return { confirmed: true }
        },
        isConnected: () => true,
      },
      logger: silentLogger,
      nowMs: () => time.nowMs,
      databaseTimeMs: () => time.nowMs,
    }),
  )
  buckets += 1
  const id = `bucket ${buckets}`
  const take = (process: number, units: number, perMinute: number) =>
    takeFrom(processes[process], { id, units, perMinute, nowMs: time.nowMs })
  const isTaken = async (process: number, units: number, perMinute: number) =>
    (await take(process, units, perMinute)).isTaken
  const settle = async (process: number) => {
    do await new Promise((resolve) => setImmediate(resolve))
    while (processes[process]?.rate(id, 1).isVisiting === true)
  }
  const close = () => Promise.all(processes.map((process) => process.close()))
  return { time, outage, processes, id, take, isTaken, settle, close }
}

async function takeFrom(
  rates: BorrowedRates | undefined,
  { id, units, perMinute, nowMs }: { id: string; units: number; perMinute: number; nowMs: number },
): Promise<RateOutcome> {
  const rate = rates?.rate(id, perMinute)
  if (!rate) throw new Error('no such process')
  return rate.takeNow(units, perMinute, nowMs) ? { isTaken: true } : rate.take(units, perMinute, nowMs)
}

async function readLent(id: string): Promise<number> {
  const [row] = await database.query<{ lent: bigint }>('SELECT lent FROM rate_buckets WHERE id = $1', [id])
  return Number(row?.lent ?? 0)
}

describe('a borrowed rate', () => {
  it('gives a minute’s worth at once and then evenly', async () => {
    const { time, take, isTaken, close } = startProcesses(1)
    expect(await Promise.all([1, 2, 3].map(() => isTaken(0, 1, 3)))).toEqual([true, true, true])
    expect(await take(0, 1, 3)).toEqual({ isTaken: false, retryAfterMs: 20_000 })
    time.nowMs += 19_999
    expect(await isTaken(0, 1, 3)).toBe(false)
    time.nowMs += 1
    expect([await isTaken(0, 1, 3), await isTaken(0, 1, 3)]).toEqual([true, false])
    await close()
  })

  it('serves most requests without asking the database', async () => {
    const { time, processes, id, close } = startProcesses(1)
    let asked = 0
    for (let request = 0; request < 2000; request += 1) {
      time.nowMs += 1
      const rate = processes[0]?.rate(id, 600_000)
      if (rate?.takeNow(1, 600_000, time.nowMs) === true) continue
      asked += 1
      await rate?.take(1, 600_000, time.nowMs)
    }
    expect(asked).toBeLessThan(20)
    await close()
  })

  it('recalls idle units from another process before it refuses', async () => {
    const { isTaken, close } = startProcesses(2)
    expect(await isTaken(0, 1, 100)).toBe(true)
    let taken = 1
    while (await isTaken(1, 1, 100)) taken += 1
    expect(taken).toBe(100)
    await close()
  })

  it('recalls units that another process is just borrowing before it refuses', async () => {
    const { isTaken, id, close } = startProcesses(2, { isFirstLate: true })
    const first = isTaken(0, 1, 100)
    await expect.poll(() => readLent(id)).toBeGreaterThan(0)
    expect(await isTaken(1, 99, 100)).toBe(true)
    expect(await first).toBe(true)
    await close()
  })

  it('uses its own borrowed units for a large request', async () => {
    const { isTaken, close } = startProcesses(1)
    expect(await isTaken(0, 1, 1000)).toBe(true)
    expect(await isTaken(0, 999, 1000)).toBe(true)
    await close()
  })

  it('follows a limit that is lowered or raised', async () => {
    const { isTaken, time, close } = startProcesses(1)
    await isTaken(0, 1, 1000)
    expect(await isTaken(0, 1, 2)).toBe(true)
    expect([await isTaken(0, 1, 2), await isTaken(0, 1, 2)]).toEqual([true, false])
    time.nowMs += 60_000
    expect(await isTaken(0, 2, 600)).toBe(true)
    await close()
  })

  it('counts what was used beyond the estimate, and gives back what was not used', async () => {
    const { isTaken, processes, id, time, settle, close } = startProcesses(2)
    expect(await isTaken(0, 60, 100)).toBe(true)
    processes[0]?.rate(id, 100).giveBack(-40, time.nowMs)
    await settle(0)
    expect(await isTaken(1, 1, 100)).toBe(false)
    time.nowMs += 100
    processes[0]?.rate(id, 100).giveBack(50, time.nowMs)
    expect(await isTaken(0, 45, 100)).toBe(true)
    await close()
  })

  it('forgets the loan of a process that died', async () => {
    const { isTaken, take, time, close } = startProcesses(2)
    expect(await isTaken(0, 1, 80)).toBe(true)
    const rows = await database.query<{ lent: bigint }>('SELECT lent FROM rate_buckets ORDER BY id DESC')
    expect(rows.some(({ lent }) => lent > 0n)).toBe(true)
    // Longer than two epochs plus the time to refill the amount of the loan.
    time.nowMs += 241_000
    await take(1, 1, 80)
    time.nowMs += 60_000
    expect(await isTaken(1, 79, 80)).toBe(true)
    await close()
  })

  it('serves borrowed units while the database is unavailable, then fails, and recovers', async () => {
    const { isTaken, outage, time, processes, id, close } = startProcesses(1)
    expect(await isTaken(0, 1, 6000)).toBe(true)
    const borrowed = processes[0]?.rate(id, 6000).loan ?? 0
    expect(borrowed).toBeGreaterThan(0)
    outage.isAway = true
    for (let request = 0; request < borrowed; request += 1) {
      expect(processes[0]?.rate(id, 6000).takeNow(1, 6000, time.nowMs)).toBe(true)
      await Promise.resolve()
    }
    await expect(isTaken(0, 1, 6000)).rejects.toThrow('the server is gone')
    outage.isAway = false
    expect(await isTaken(0, 1, 6000)).toBe(true)
    await close()
  })

  it('never gives more than one bucket would, returns a correct wait time, and leaves no unit unused', async () => {
    const step = fc.record({
      process: fc.nat({ max: 2 }),
      pauseMs: fc.oneof(fc.constant(0), fc.nat({ max: 500 }), fc.nat({ max: 20_000 })),
      units: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40 })),
      usedShare: fc.constantFrom(1, 1, 0.25),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 400 }),
        fc.array(step, { maxLength: 40 }),
        async (perMinute, steps) => {
          const { time, take, processes, id, settle, close } = startProcesses(3)
          const bucket = createSimpleBucket(perMinute, time)
          for (const { process, pauseMs, units, usedShare } of steps) {
            time.nowMs += pauseMs
            const asked = Math.min(units, perMinute)
            const outcome = await take(process, asked, perMinute)
            if (outcome.isTaken) {
              bucket.take(asked)
              const unused = asked - Math.ceil(asked * usedShare)
              processes[process]?.rate(id, perMinute).giveBack(unused, time.nowMs)
              await settle(process)
              bucket.take(-unused)
              expect(bucket.level()).toBeGreaterThanOrEqual(-1e-6)
              continue
            }
            time.nowMs += outcome.retryAfterMs
            expect((await take(process, asked, perMinute)).isTaken).toBe(true)
            bucket.take(asked)
            expect(bucket.level()).toBeGreaterThanOrEqual(-1e-6)
          }
          await close()
        },
      ),
      { numRuns: longOr(150, 40) },
    )
  })
})

/** A minimal reference implementation of a rate. */
function createSimpleBucket(perMinute: number, time: { nowMs: number }) {
  let level = perMinute
  let atMs = time.nowMs
  const refill = () => {
    level = Math.min(perMinute, level + ((time.nowMs - atMs) * perMinute) / 60_000)
    atMs = time.nowMs
    return level
  }
  return {
    level: refill,
    take: (units: number) => {
      level = Math.min(perMinute, refill() - units)
    },
  }
}
