import type { Database } from '../../storage/database.ts'

const BATCH_ROWS = 500
const BATCHES_MAX = 40

/** Deletes expired rows in small batches. Several processes may do this at once: each takes different rows. */
export async function sweepExpired(database: Database): Promise<number> {
  let deleted = 0
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const rows = await database.query(DELETE_BATCH, [BATCH_ROWS])
    deleted += rows.length
    if (rows.length < BATCH_ROWS) break
  }
  return deleted
}

const DELETE_BATCH = `
  DELETE FROM idempotency_keys AS kept USING (
    SELECT account_id, key_hash FROM idempotency_keys WHERE expires_at <= now()
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
  ) AS expired
  WHERE kept.account_id = expired.account_id AND kept.key_hash = expired.key_hash
  RETURNING 1 AS one`
