import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import { takeVersion } from '../write-provider.ts'
import type { AdjustmentScope, OfferedAdjustment } from './offered-adjustment.ts'

/** In force or of the future. Every process holds all of them. */
const ADJUSTMENTS_MAX = 5_000

type NewAdjustment = Omit<OfferedAdjustment, 'version' | 'createdAtMs' | 'withdrawnAtMs'>

/** Returns the version, which is its id. */
export async function insertAdjustment(
  transaction: Queryable,
  one: NewAdjustment,
  nowMs: number,
): Promise<bigint> {
  await requireExisting(transaction, one)
  const version = await takeVersion(transaction)
  const [count] = await transaction.query<{ count: bigint }>(
    `SELECT count(*) AS count FROM price_adjustments
     WHERE withdrawn_at IS NULL AND (effective_until IS NULL OR effective_until > $1)`,
    [new Date(nowMs)],
  )
  if (Number(count?.count ?? 0) >= ADJUSTMENTS_MAX)
    throw new AppError('conflict', `There are already ${ADJUSTMENTS_MAX} price adjustments.`)
  await transaction.query(
    `INSERT INTO price_adjustments (version, account_id, project_id, model, given, terms, effective_from, effective_until,
       author_key_id, reason, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      version,
      one.accountId,
      one.projectId,
      one.model,
      JSON.stringify(one.given),
      JSON.stringify(one.terms),
      new Date(one.effectiveFromMs),
      dateOrNull(one.effectiveUntilMs),
      one.authorKeyId,
      one.reason,
      new Date(nowMs),
    ],
  )
  return version
}

/** Moves the end of one that has not ended yet. */
export async function updateEnd(
  transaction: Queryable,
  { version: known, effectiveUntilMs: knownEndMs }: OfferedAdjustment,
  { endMs, nowMs }: { readonly endMs: number | null; readonly nowMs: number },
): Promise<bigint> {
  const version = await takeVersion(transaction)
  const rows = await transaction.query(
    `UPDATE price_adjustments SET effective_until = $2
     WHERE version = $1 AND withdrawn_at IS NULL AND (effective_until IS NULL OR effective_until > $3)
       AND effective_until IS NOT DISTINCT FROM $4 AND ($2::timestamptz IS NULL OR effective_from <= $2) RETURNING 1`,
    [known, dateOrNull(endMs), new Date(nowMs), dateOrNull(knownEndMs)],
  )
  if (rows.length === 0) throw changedMeanwhile()
  return version
}

/** The row stays, in case a process used it in the moment before it heard of this. */
export async function withdrawAdjustment(
  transaction: Queryable,
  { version: known }: OfferedAdjustment,
  nowMs: number,
): Promise<bigint> {
  const version = await takeVersion(transaction)
  const rows = await transaction.query(
    `UPDATE price_adjustments SET withdrawn_at = $2
     WHERE version = $1 AND effective_from > $2 AND withdrawn_at IS NULL RETURNING 1`,
    [known, new Date(nowMs)],
  )
  if (rows.length === 0) throw changedMeanwhile()
  return version
}

/** A wrong id would be a discount that nobody gets. The project `Default` has the id of its account. */
async function requireExisting(
  transaction: Queryable,
  { accountId, projectId }: AdjustmentScope,
): Promise<void> {
  const [found] = await transaction.query<{ has_account: boolean; has_project: boolean }>(
    `SELECT $1::uuid IS NULL OR EXISTS (SELECT FROM accounts WHERE id = $1) AS has_account,
       $2::uuid IS NULL OR EXISTS (SELECT FROM projects WHERE id = $2) OR EXISTS (SELECT FROM accounts WHERE id = $2)
         AS has_project`,
    [accountId, projectId],
  )
  if (found?.has_account !== true) throw invalidValue('account_id', `There is no account '${accountId}'.`)
  if (!found.has_project) throw invalidValue('project_id', `There is no project '${projectId}'.`)
}

function dateOrNull(epochMs: number | null): Date | null {
  return epochMs === null ? null : new Date(epochMs)
}

function changedMeanwhile(): AppError {
  return new AppError('conflict', 'This price adjustment has ended, or was changed meanwhile. Read it again.')
}
