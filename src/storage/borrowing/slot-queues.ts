import type { Queryable } from '../database.ts'
import type { MessageBus } from '../bus/message-bus.ts'
import type { Borrower } from './borrower.ts'
import type { EnteredQueue, QueueDesk, SlotQueueLimits } from './queue-desk.ts'
import { SlotQueue } from './slot-queue.ts'

export type { QueuedSlot, SlotQueueLimits } from './queue-desk.ts'
export type { SlotQueue } from './slot-queue.ts'

/** A pool as it is now, over all processes. */
export interface PoolState {
  readonly id: string
  readonly inUse: number
  readonly queued: number
  readonly averageWaitMs: number
  readonly averageServiceMs: number
}

/** Pools of slots with a fair queue each, shared by all processes on one database. */
export interface SlotQueues {
  queue(id: string, limits: SlotQueueLimits): SlotQueue
  /** Of pools that were used before; of others there is nothing to say. */
  readStates(ids: readonly string[]): Promise<PoolState[]>
  close(): Promise<void>
}

export interface SlotQueuesOptions {
  readonly database: Queryable
  readonly messageBus: Pick<MessageBus, 'subscribe'>
  readonly borrower: Pick<Borrower, 'id' | 'isTrusted' | 'declareLost' | 'onLost'>
}

const TICK_MS = 1_000
const POOL_PREFIX = 'queue:'

export function createSlotQueues(options: SlotQueuesOptions): SlotQueues {
  const { database, borrower, messageBus } = options
  const queues = new Map<string, SlotQueue>()
  const batcher = createDesk(options)

  const aboutWaiter = (payload: string, tell: (queue: SlotQueue, waiterId: string) => void): void => {
    const [borrowerId, waiterId = '', pool = ''] = payload.split(' ', 3)
    const queue = queues.get(pool)
    if (queue && borrowerId === borrower.id) tell(queue, waiterId)
  }
  const unsubscribe = [
    messageBus.subscribe('limits.slot-granted', (payload) =>
      aboutWaiter(payload, (queue, id) => queue.grant(id)),
    ),
    messageBus.subscribe('limits.slot-displaced', (payload) =>
      aboutWaiter(payload, (queue, id) => queue.displace(id)),
    ),
    messageBus.subscribe('limits.slots-wanted', (pool) => queues.get(pool)?.noteWaiters()),
  ]
  borrower.onLost(() => {
    for (const queue of queues.values()) queue.lose()
  })
  const ticker = setInterval(() => {
    const nowMs = performance.now()
    for (const [pool, queue] of queues) {
      queue.tick(nowMs)
      if (queue.isForgettable(nowMs)) queues.delete(pool)
    }
  }, TICK_MS).unref()

  return {
    queue(id, limits) {
      const pool = POOL_PREFIX + id
      const known = queues.get(pool)
      if (known) return known
      const queue = new SlotQueue(pool, limits, batcher)
      queues.set(pool, queue)
      return queue
    },
    readStates: (ids) => readStates(database, ids),
    async close() {
      clearInterval(ticker)
      for (const stop of unsubscribe) stop()
      for (const queue of queues.values()) await queue.close()
    },
  }
}

function createDesk({ database, borrower }: SlotQueuesOptions): QueueDesk {
  // A process that was declared dead gets no response under its old id, and one under its new id.
  const ask = async <Row extends object>(sql: string, valuesOf: () => unknown[]): Promise<Row> => {
    const { id } = borrower
    const [row] = await database.query<Row>(sql, valuesOf())
    if (row !== undefined) return row
    await borrower.declareLost(id)
    const [later] = await database.query<Row>(sql, valuesOf())
    if (later === undefined) throw new Error('the pool knows this process under no name')
    return later
  }

  return {
    isTrusted: () => borrower.isTrusted(),
    async enter({ id, limits }, waiterId, accountId) {
      const row = await ask<EnterRow>(ENTER, () => [
        id,
        borrower.id,
        accountId,
        limits.slots,
        limits.waitersMax,
        waiterId,
      ])
      return { outcome: row.outcome, waiting: row.waiting, serviceMs: row.service_ms }
    },
    async report({ id, limits }, { held, busy, noted, needed, serves, servedMs }) {
      const row = await ask<ReportRow>(REPORT, () => [
        id,
        borrower.id,
        limits.slots,
        held,
        busy,
        noted,
        serves,
        servedMs,
        needed,
      ])
      return { slots: row.slots, waiting: row.waiting, granted: row.granted, serviceMs: row.service_ms }
    },
  }
}

interface EnterRow {
  readonly outcome: EnteredQueue['outcome']
  readonly waiting: number
  readonly service_ms: number
}

interface ReportRow {
  readonly slots: number
  readonly waiting: number
  readonly granted: string[]
  readonly service_ms: number
}

const ENTER = 'SELECT * FROM enter_slot_queue($1, $2, $3, $4, $5, $6)'
const REPORT =
  'SELECT slots, waiting, granted, service_ms FROM exchange_slots($1, $2, $3, $4, $5, $6, $9, 0, $7, $8)'

interface StateRow {
  readonly id: string
  readonly in_use: bigint
  readonly queued: bigint
  readonly wait_ms: bigint
  readonly service_ms: bigint
}

async function readStates(database: Queryable, ids: readonly string[]): Promise<PoolState[]> {
  const rows = await database.query<StateRow>(
    `SELECT id, waited_ms / greatest(1, waits) AS wait_ms, served_ms / greatest(1, serves) AS service_ms,
       (SELECT coalesce(sum(in_use), 0)::bigint FROM slot_loans WHERE pool_id = slot_pools.id) AS in_use,
       (SELECT count(*) FROM slot_waiters WHERE pool_id = slot_pools.id AND granted_at IS NULL) AS queued
     FROM slot_pools WHERE id = ANY ($1::text[]) ORDER BY id`,
    [ids.map((id) => POOL_PREFIX + id)],
  )
  return rows.map((row) => ({
    id: row.id.slice(POOL_PREFIX.length),
    inUse: Number(row.in_use),
    queued: Number(row.queued),
    averageWaitMs: Number(row.wait_ms),
    averageServiceMs: Number(row.service_ms),
  }))
}

/** Deletes pools that nobody has used for a day, of those whose names begin so. */
export async function sweepPools(queryable: Queryable, prefix: string): Promise<void> {
  await queryable.query(
    `DELETE FROM slot_pools WHERE starts_with(id, $1) AND lent = 0 AND used_at < now() - interval '1 day'
       AND NOT EXISTS (SELECT FROM slot_waiters WHERE pool_id = slot_pools.id)`,
    [POOL_PREFIX + prefix],
  )
}
