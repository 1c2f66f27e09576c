import type { Queryable } from '../../storage/database.ts'
import { LOOKS_MAX } from './make-due-receipts.ts'
import { dayOf } from './make-receipt.ts'

const PARTS_AT_ONCE = 100

/**
 * Deletes the hashes of records that are not kept any more, of days that are not looked at again: without them, all records of a day would
 * get a second receipt when a late one comes. Receipts stay: whoever saved the records can still compare them.
 */
export async function dropLeaves(
  queryable: Queryable,
  keptSinceMs: number,
  rest: (workedMs: number) => Promise<void>,
): Promise<void> {
  for (;;) {
    const startedMs = performance.now()
    const [day] = await queryable.query<{ day: string }>(
      'SELECT day::text AS day FROM receipt_days WHERE has_leaves AND day < $1::date AND looks >= $2 ORDER BY day LIMIT 1',
      [dayOf(keptSinceMs), LOOKS_MAX],
    )
    if (day === undefined) return
    const dropped = await queryable.query(
      `DELETE FROM receipt_leaves WHERE (account_id, number, part) IN (
         SELECT account_id, number, part FROM receipts JOIN receipt_leaves USING (account_id, number)
         WHERE day = $1::date LIMIT $2)
       RETURNING part`,
      [day.day, PARTS_AT_ONCE],
    )
    if (dropped.length === 0)
      await queryable.query('UPDATE receipt_days SET has_leaves = false WHERE day = $1::date', [day.day])
    await rest(performance.now() - startedMs)
  }
}
