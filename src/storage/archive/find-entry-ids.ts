import type { Queryable } from '../database.ts'
import type { Month } from './month.ts'

/** An entry has the time at which its transaction began, so that later ids may have slightly earlier times. */
const DISORDER_MS = 86_400_000
/** More than the digits of any id. */
const STEPS_MAX = 64

/**
 * Returns the ids between which the entries of a month are, and its time. Entries have no index by time, so that their ids are bisected,
 * with a day more at both ends.
 */
export async function findEntryIds(
  queryable: Queryable,
  { fromMs, toMs }: Month,
): Promise<readonly unknown[]> {
  const first = await findFirstId(queryable, fromMs - DISORDER_MS)
  const end = await findFirstId(queryable, toMs + DISORDER_MS)
  return [first, end, fromMs, toMs]
}

/** The first id whose entry is of this time or later, or one that is higher than all. */
async function findFirstId(queryable: Queryable, atMs: number): Promise<bigint> {
  const [last] = await queryable.query<{ id: bigint | null }>('SELECT max(id) AS id FROM ledger_entries')
  let low = 0n
  let high = (last?.id ?? 0n) + 1n
  for (let step = 0; low < high && step < STEPS_MAX; step += 1) {
    const middle = (low + high) / 2n
    const [entry] = await queryable.query<{ id: bigint; at_ms: number }>(
      `SELECT id, (extract(epoch FROM created_at) * 1000)::float8 AS at_ms FROM ledger_entries WHERE id >= $1 ORDER BY id LIMIT 1`,
      [middle],
    )
    if (entry === undefined || entry.at_ms >= atMs) high = middle
    else low = entry.id + 1n
  }
  return low
}
