import type { Queryable } from '../database.ts'
import { waitForWriters } from '../wait-for-writers.ts'

/** A writer that takes longer keeps the requests after its own waiting. */
const WAIT_MS_MAX = 2_000

/**
 * Returns a number up to which the queue is complete, or null if it could not be found yet. Numbers are given before the commit, so that a
 * higher one may be seen first. Whoever got a number had locked the table before, and unlocks it after its commit is visible: when all
 * have ended that had it locked after this number was read, no lower one can come.
 */
export async function findSettledNumber(queryable: Queryable): Promise<bigint | null> {
  const given = await readLastNumber(queryable)
  return (await waitForWriters(queryable, ['export_queue'], { waitMsMax: WAIT_MS_MAX })) ? given : null
}

/** The highest number that was given, by whichever transaction. */
export async function readLastNumber(queryable: Queryable): Promise<bigint> {
  const [row] = await queryable.query<{ last: bigint }>(
    'SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS last FROM export_queue_number_seq',
  )
  if (row === undefined) throw new Error('the sequence of the export queue has no row')
  return row.last
}
