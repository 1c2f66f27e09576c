import type { Database } from '../../storage/database.ts'

const BATCH_ROWS = 500
const BATCHES_MAX = 40

/** Deletes expired responses that no other response continues, in small batches. Any process does this for all. */
export async function sweepResponses(database: Database): Promise<number> {
  let deleted = 0
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const rows = await database.query(DELETE_BATCH, [BATCH_ROWS])
    deleted += rows.length
    // Deleting these may free the responses that they continued for the next batch.
    if (rows.length === 0) break
  }
  return deleted
}

const DELETE_BATCH = `
  DELETE FROM responses USING (
    SELECT account_id, id FROM responses WHERE expires_at <= now() AND NOT EXISTS (
      SELECT FROM responses AS next WHERE next.account_id = responses.account_id AND next.previous_id = responses.id)
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
  ) AS expired
  WHERE responses.account_id = expired.account_id AND responses.id = expired.id
  RETURNING 1 AS one`
