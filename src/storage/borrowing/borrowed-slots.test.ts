import type { QueryResultRow } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createBorrowedSlots,
  reclaimSlots,
  type BorrowedSlots,
  type BorrowedSlotsOptions,
} from './borrowed-slots.ts'
import { declareDead, startSlotProcesses, type SlotProcesses } from './testing/slot-processes.ts'

let processes: SlotProcesses
let pools = 0

beforeAll(async () => {
  processes = await startSlotProcesses()
})

afterAll(() => processes.close())

/** A long recall timeout, because these tests do not check how long a recall takes. */
const PATIENCE_MS = 30_000

async function startSlots(options: Partial<BorrowedSlotsOptions> = {}) {
  const { messageBus, borrower } = await processes.start()
  const slots = createBorrowedSlots({
    database: processes.database,
    messageBus,
    borrower,
    recallMsMax: PATIENCE_MS,
    ...options,
  })
  return { slots, borrower }
}

/** Starts a process that gets the response with its loan only after it was asked to give the loan back. */
async function startLateSlots() {
  const asked = Promise.withResolvers<void>()
  const { messageBus } = await processes.start()
  return startSlots({
    database: {
      query: async <Row extends QueryResultRow>(sql: string, values?: readonly unknown[]) => {
        const rows = await processes.database.query<Row>(sql, values)
        await asked.promise
        return rows
      },
    },
    messageBus: {
      isConnected: () => messageBus.isConnected(),
      publishAndConfirm: (topic, payload, options) => messageBus.publishAndConfirm(topic, payload, options),
      subscribe: (topic, handler) =>
        messageBus.subscribe(topic, async (payload) => {
          const given = handler(payload)
          asked.resolve()
          await given
        }),
    },
  })
}

function namePool(): string {
  pools += 1
  return `pool ${pools}`
}

async function take(slots: BorrowedSlots, pool: string, capacity: number): Promise<boolean> {
  const share = slots.share(pool, capacity)
  return share.takeNow(capacity, performance.now()) || share.take(capacity, performance.now())
}

async function takeMany(
  slots: BorrowedSlots,
  pool: string,
  capacity: number,
  count: number,
): Promise<number> {
  const taken = await Promise.all(Array.from({ length: count }, () => take(slots, pool, capacity)))
  return taken.filter((isTaken) => isTaken).length
}

async function readLent(pool: string): Promise<number> {
  const sql = 'SELECT lent FROM slot_pools WHERE id = $1'
  const [row] = await processes.database.query<{ lent: number }>(sql, [pool])
  return row?.lent ?? 0
}

describe('borrowed slots', () => {
  it('are never more than the pool has, over several processes', async () => {
    const [first, second] = await Promise.all([startSlots(), startSlots()])
    const pool = namePool()
    const taken = await Promise.all([
      takeMany(first.slots, pool, 100, 90),
      takeMany(second.slots, pool, 100, 90),
    ])
    expect(taken[0] + taken[1]).toBe(100)
    await Promise.all([first.slots.close(), second.slots.close()])
  })

  it('borrowed slots that are idle in another process are recalled before a request is refused', async () => {
    const [first, second] = await Promise.all([startSlots(), startSlots()])
    const pool = namePool()
    expect(await take(first.slots, pool, 100)).toBe(true)
    expect(first.slots.share(pool, 100).loan).toBeGreaterThan(1)
    expect(await takeMany(second.slots, pool, 100, 100)).toBe(99)
    first.slots.share(pool, 100).release()
    await Promise.all([first.slots.close(), second.slots.close()])
  })

  it('borrowed slots that another process is just borrowing are recalled before a request is refused', async () => {
    const [late, other] = await Promise.all([startLateSlots(), startSlots()])
    const pool = namePool()
    const taken = take(late.slots, pool, 100)
    await expect.poll(() => readLent(pool)).toBeGreaterThan(1)
    expect(await takeMany(other.slots, pool, 100, 100)).toBe(99)
    expect(await taken).toBe(true)
    await Promise.all([late.slots.close(), other.slots.close()])
  })

  it('are taken in memory once borrowed', async () => {
    const { slots } = await startSlots()
    const pool = namePool()
    expect(await take(slots, pool, 1000)).toBe(true)
    const share = slots.share(pool, 1000)
    expect(share.takeNow(1000, performance.now())).toBe(true)
    share.release()
    expect(share.takeNow(1000, performance.now())).toBe(true)
    await slots.close()
  })

  it('follow a capacity that is lowered', async () => {
    const { slots } = await startSlots()
    const pool = namePool()
    expect(await takeMany(slots, pool, 50, 10)).toBe(10)
    expect(await take(slots, pool, 5)).toBe(false)
    for (let index = 0; index < 6; index += 1) slots.share(pool, 5).release()
    expect(await take(slots, pool, 5)).toBe(true)
    expect(await take(slots, pool, 5)).toBe(false)
    await slots.close()
  })

  it('borrowed slots of a dead process are given back', async () => {
    const [first, second] = await Promise.all([startSlots(), startSlots()])
    const pool = namePool()
    expect(await takeMany(first.slots, pool, 10, 10)).toBe(10)
    expect(await take(second.slots, pool, 10)).toBe(false)
    await declareDead(processes.database, first.borrower.id, reclaimSlots)
    await expect.poll(() => take(second.slots, pool, 10)).toBe(true)
    await second.slots.close()
  })

  it('borrowed slots of a process that was declared dead but runs are counted again', async () => {
    const [first, second] = await Promise.all([startSlots(), startSlots()])
    const pool = namePool()
    expect(await takeMany(first.slots, pool, 10, 4)).toBe(4)
    await declareDead(processes.database, first.borrower.id, reclaimSlots)
    expect(await takeMany(first.slots, pool, 10, 2)).toBe(2)
    await expect.poll(() => first.slots.share(pool, 10).isVisiting).toBe(false)
    expect(await takeMany(second.slots, pool, 10, 10)).toBe(4)
    await Promise.all([first.slots.close(), second.slots.close()])
  })
})
