import { FROM_LIVING_BORROWER } from '../../storage/borrowing/living-borrower.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import type { Batch, BatchClaim } from './batch.ts'
import { BATCH_COLUMNS, batchFromRow, type BatchRow } from './batch-row.ts'

export interface ClaimedBatch {
  readonly batch: Batch
  readonly claim: BatchClaim
}

/** Batches of one account that are worked on at once, over all processes. */
const BATCHES_OF_ACCOUNT_MAX = 4
/** Advisory lock that serialises claims, so that the limit is exact. */
const CLAIM_LOCK_ID = 7_275_929_004

/** SQL: it still has lines to ask, or files to write. */
export const IS_UNENDED = `status IN ('validating', 'in_progress', 'finalizing', 'cancelling')`

/** SQL: no living process has it. A process of the release before closes the borrower of a dead one, and hands back no batches. */
function isFree(table: string): string {
  return `(${table}.worker_id IS NULL OR NOT EXISTS (SELECT FROM borrowers
    WHERE borrowers.id = ${table}.worker_id AND borrowers.closed_at IS NULL))`
}

/** Claims the next batch: first by the fewest batches of its account that are worked on, then by age. Null if there is none. */
export function claimBatch(database: Database, workerId: string): Promise<ClaimedBatch | null> {
  return database.transaction(async (transaction) => {
    const alive = await transaction.query(`SELECT pg_advisory_xact_lock($2) ${FROM_LIVING_BORROWER}`, [
      workerId,
      CLAIM_LOCK_ID,
    ])
    if (alive.length === 0) return null
    const [row] = await transaction.query<BatchRow & { claim: number }>(CLAIM, [
      workerId,
      BATCHES_OF_ACCOUNT_MAX,
    ])
    if (row === undefined) return null
    return { batch: batchFromRow(row), claim: { batchId: row.id, workerId, number: row.claim } }
  })
}

const CLAIM = `
  WITH first_of_account AS (
    SELECT DISTINCT ON (account_id) id, account_id FROM batches
    WHERE ${IS_UNENDED} AND ${isFree('batches')} ORDER BY account_id, id
  ), in_turn AS (
    SELECT id, (SELECT count(*) FROM batches AS other WHERE other.account_id = first_of_account.account_id
      AND ${IS_UNENDED} AND NOT ${isFree('other')}) AS running FROM first_of_account
  )
  UPDATE batches SET worker_id = $1, claim = claim + 1, claimed_at = now()
  WHERE ${IS_UNENDED} AND ${isFree('batches')} AND id = (SELECT id FROM in_turn WHERE running < $2 ORDER BY running, id LIMIT 1)
  RETURNING ${BATCH_COLUMNS}, claim`

/** Whether a batch waits of an account none of whose batches anybody works on. */
export async function isAccountWaiting(queryable: Queryable): Promise<boolean> {
  const rows = await queryable.query(
    `SELECT FROM batches WHERE ${IS_UNENDED} AND ${isFree('batches')} AND NOT EXISTS (
       SELECT FROM batches AS other WHERE other.account_id = batches.account_id
         AND ${IS_UNENDED} AND NOT ${isFree('other')}) LIMIT 1`,
  )
  return rows.length > 0
}

/** SQL: the claim stands. Its values are `claimValues`. */
export const IS_STANDING = 'id = $1 AND worker_id = $2 AND claim = $3'

export function claimValues({ batchId, workerId, number }: BatchClaim): unknown[] {
  return [batchId, workerId, number]
}

/** Returns the status of each batch whose claim still stands. */
export async function readStanding(
  queryable: Queryable,
  claims: readonly BatchClaim[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await queryable.query<{ id: string; status: string }>(
    `SELECT batch.id, batch.status FROM unnest($1::uuid[], $2::uuid[], $3::int[]) AS held (id, worker_id, claim)
     JOIN batches AS batch USING (id, worker_id, claim)`,
    [
      claims.map(({ batchId }) => batchId),
      claims.map(({ workerId }) => workerId),
      claims.map(({ number }) => number),
    ],
  )
  return new Map(rows.map(({ id, status }) => [id, status]))
}

/** Another process may go on with it. */
export async function handBackBatch(queryable: Queryable, claim: BatchClaim): Promise<void> {
  await queryable.query(`UPDATE batches SET worker_id = NULL WHERE ${IS_STANDING}`, claimValues(claim))
}

/** Returns batches that this worker has claimed but does not work on, because their end could not be written. Skips those claimed a moment ago. */
export async function handBackStrays(
  queryable: Queryable,
  workerId: string,
  kept: readonly string[],
): Promise<void> {
  await queryable.query(
    `UPDATE batches SET worker_id = NULL
     WHERE worker_id = $1 AND id <> ALL ($2::uuid[]) AND claimed_at < now() - interval '1 minute'`,
    [workerId, kept],
  )
}

/** Returns the batches of a dead worker. Called for each process whose heartbeat stopped. */
export async function reclaimBatches(transaction: Queryable, borrowerId: string): Promise<void> {
  await transaction.query('UPDATE batches SET worker_id = NULL WHERE worker_id = $1', [borrowerId])
}
