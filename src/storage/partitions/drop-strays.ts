import type { Client } from 'pg'
import { firstIdAt, timeOfId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../database.ts'
import type { ExpiredPartition, Retention } from './drop-partitions.ts'
import { nameDefault } from './make-partitions.ts'
import type { PartitionedTable } from './partitioned-tables.ts'
import { changeTables, queryableOf } from './short-transaction.ts'
import { spanOfStep, type Span } from './step.ts'

/** Steps that are deleted in one go. */
const STEPS_MAX = 40

interface Strays extends ExpiredPartition {
  readonly span: Span
}

/** Rows of the default partition that are not kept: those of its first step. Null if there are none. */
export async function findStrays(
  queryable: Queryable,
  { name: table, step }: PartitionedTable,
  { keptSince, lateMs = 0 }: Retention,
  nowMs: number,
): Promise<Strays | null> {
  const name = nameDefault(table)
  const [first] = await queryable.query<{ id: string }>(`SELECT id FROM ${name} ORDER BY id LIMIT 1`)
  if (first === undefined) return null
  const span = spanOfStep(step, timeOfId(first.id))
  if (span.toMs > keptSince(nowMs) - lateMs) return null
  const rows = `(SELECT * FROM ${name} WHERE id >= '${firstIdAt(span.fromMs)}' AND id < '${firstIdAt(span.toMs)}') AS strays`
  return { name, rows, untilMs: span.toMs, span }
}

/**
 * Deletes rows of the default partition that are not kept, each step in one transaction with what is kept of it. Only rows whose partition
 * was missing are there, so that they are few. Returns how many.
 */
export async function dropStrays(
  session: Client,
  table: PartitionedTable,
  retention: Retention,
  nowMs: number,
): Promise<number> {
  const { mayDrop = async () => true, keepSums } = retention
  let dropped = 0
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const strays = await findStrays(queryableOf(session), table, retention, nowMs)
    if (strays === null) return dropped
    let isDropped = false
    await changeTables(session, async (queryable) => {
      // Nobody adds a row that the sums do not have.
      await queryable.query(`LOCK TABLE ${strays.name} IN SHARE ROW EXCLUSIVE MODE`)
      if (!(await mayDrop(queryable, strays))) return
      if (keepSums !== undefined) await queryable.query(keepSums(strays))
      const { fromMs, toMs } = strays.span
      const [deleted] = await queryable.query<{ rows: number }>(
        `WITH gone AS (DELETE FROM ${strays.name} WHERE id >= $1 AND id < $2 RETURNING 1) SELECT count(*)::int AS rows FROM gone`,
        [firstIdAt(fromMs), firstIdAt(toMs)],
      )
      dropped += deleted?.rows ?? 0
      isDropped = true
    })
    if (!isDropped) return dropped
  }
  return dropped
}
