import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Queryable } from '../database.ts'
import type { Partition } from './read-partitions.ts'
import { changeTables, isLockTimeout, requireNoBackup, TablesInUse } from './short-transaction.ts'

/** How long the rows of a table are kept. */
export interface Retention {
  readonly table: string
  /** Rows from before this time are not kept. */
  readonly keptSince: (nowMs: number) => number
  /** A row may be written this much later than its id says, and is kept that much longer. */
  readonly lateMs?: number
  /** Whether its rows may be dropped, asked in the transaction that drops them, when nobody adds one. */
  readonly mayDrop?: (transaction: Queryable, partition: ExpiredPartition) => Promise<boolean>
  /** SQL that keeps what is needed of a partition, run in the transaction that drops it. */
  readonly keepSums?: (partition: ExpiredPartition) => string
}

export interface ExpiredPartition {
  readonly name: string
  /** SQL: its rows, as a FROM item. */
  readonly rows: string
  /** Its ids are from before. */
  readonly untilMs: number
}

const ATTEMPTS_MAX = 20
const PAUSE_MS = 500

/** The partitions that have only rows which are not kept. */
export function listExpired(
  partitions: readonly Partition[],
  { keptSince, lateMs = 0 }: Retention,
  nowMs: number,
): ExpiredPartition[] {
  const since = keptSince(nowMs) - lateMs
  return partitions.flatMap(({ name, span }) =>
    span !== null && span.toMs <= since ? { name, rows: name, untilMs: span.toMs } : [],
  )
}

/**
 * Drops a partition with what it has, and returns whether it may. Its table is locked for a moment only: if it is in use, the others go
 * first, and it is tried again. The partition stays a part of the table until then, so that readers see all of its rows or none.
 */
export async function dropPartition(
  session: Client,
  partition: ExpiredPartition,
  { mayDrop = async () => true, keepSums }: Pick<Retention, 'mayDrop' | 'keepSums'>,
): Promise<boolean> {
  let isDropped = false
  await changeTables(session, async (queryable) => {
    // Nobody adds a row that the sums do not have.
    if (keepSums !== undefined) await queryable.query(`LOCK TABLE ${partition.name} IN SHARE MODE`)
    if (!(await mayDrop(queryable, partition))) return
    if (keepSums !== undefined) await queryable.query(keepSums(partition))
    await requireNoBackup(queryable)
    await dropWhenFree(queryable, partition.name)
    isDropped = true
  })
  return isDropped
}

/** Tries more than once, because adding up a partition may have taken minutes. */
async function dropWhenFree(queryable: Queryable, partition: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    await queryable.query('SAVEPOINT before_drop')
    try {
      await queryable.query(`DROP TABLE ${partition}`)
      return
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      await queryable.query('ROLLBACK TO SAVEPOINT before_drop')
      await delay(PAUSE_MS)
    }
  }
  throw new TablesInUse(`${partition} is in use`)
}
