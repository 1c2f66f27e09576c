import type { Queryable } from '../../storage/database.ts'
import type { Database } from '../../storage/database.ts'
import { FROM_LIVING_BORROWER } from '../../storage/borrowing/living-borrower.ts'

/** One process sends to a sink at a time. */
export interface SinkClaim {
  readonly name: string
  readonly workerId: string
  readonly number: number
}

export interface ClaimedSink {
  readonly claim: SinkClaim
  readonly position: bigint
}

/** Claims the next of these sinks that no living process has. */
export function claimSink(
  database: Database,
  workerId: string,
  names: readonly string[],
): Promise<ClaimedSink | null> {
  return database.transaction(async (transaction) => {
    const alive = await transaction.query(`SELECT 1 AS one ${FROM_LIVING_BORROWER}`, [workerId])
    if (alive.length === 0) return null
    const [row] = await transaction.query<{ name: string; claim: number; position: bigint }>(CLAIM, [
      workerId,
      names,
    ])
    if (row === undefined) return null
    return { claim: { name: row.name, workerId, number: row.claim }, position: row.position }
  })
}

const CLAIM = `
  UPDATE export_sinks SET worker_id = $1, claim = claim + 1
  WHERE name = (
    SELECT name FROM export_sinks
    WHERE name = ANY ($2::text[]) AND (worker_id IS NULL OR NOT EXISTS (
      SELECT FROM borrowers WHERE borrowers.id = worker_id AND closed_at IS NULL))
    ORDER BY name LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING name, claim, position`

const IS_STANDING = 'name = $1 AND worker_id = $2 AND claim = $3'

export interface Progress {
  /** The receiver has confirmed everything up to this number. */
  readonly position: bigint
  readonly sent: number
  readonly refused: number
  readonly missing: number
}

/** Stores what was confirmed. Returns false if the claim does not stand any more. */
export async function storeProgress(
  queryable: Queryable,
  { name, workerId, number }: SinkClaim,
  { position, sent, refused, missing }: Progress,
): Promise<boolean> {
  const stored = await queryable.query(
    `UPDATE export_sinks SET position = greatest(position, $4), sent = sent + $5, refused = refused + $6,
       skipped = skipped + $7, failures = 0, confirmed_at = now()
     WHERE ${IS_STANDING} RETURNING name`,
    [name, workerId, number, position, sent, refused, missing],
  )
  return stored.length > 0
}

/** Returns false if the claim does not stand any more. */
export async function storeFailure(
  queryable: Queryable,
  { name, workerId, number }: SinkClaim,
  reason: string,
): Promise<boolean> {
  const stored = await queryable.query(
    `UPDATE export_sinks SET failures = failures + 1, last_error = $4, failed_at = now()
     WHERE ${IS_STANDING} RETURNING name`,
    [name, workerId, number, reason],
  )
  return stored.length > 0
}

export async function findStandingSinks(
  queryable: Queryable,
  claims: readonly SinkClaim[],
): Promise<ReadonlySet<string>> {
  const rows = await queryable.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[], $2::uuid[], $3::int[]) AS held (name, worker_id, claim)
     JOIN export_sinks USING (name, worker_id, claim)`,
    [
      claims.map(({ name }) => name),
      claims.map(({ workerId }) => workerId),
      claims.map(({ number }) => number),
    ],
  )
  return new Set(rows.map(({ name }) => name))
}

/** Another process may go on with it. */
export async function handBackSink(queryable: Queryable, claim: SinkClaim): Promise<void> {
  await queryable.query(`UPDATE export_sinks SET worker_id = NULL WHERE ${IS_STANDING}`, [
    claim.name,
    claim.workerId,
    claim.number,
  ])
}

/** Called for each process whose heartbeat stopped. */
export async function reclaimSinks(transaction: Queryable, borrowerId: string): Promise<void> {
  await transaction.query('UPDATE export_sinks SET worker_id = NULL WHERE worker_id = $1', [borrowerId])
}
