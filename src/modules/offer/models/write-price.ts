import { AppError } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import { takeVersion } from '../write-provider.ts'
import type { OfferedCost, OfferedPrice } from './offered-model.ts'
import { RECENT_DAYS } from './read-models.ts'

/** Price lists of one model that are not in effect yet. */
const FUTURE_MAX = 100
/** Price lists of one model that began lately, which every process holds. */
const RECENT_MAX = 1_000

/** A price list that is checked and not stored yet. */
export interface NewPrice extends Pick<
  OfferedPrice,
  'price' | 'rates' | 'effectiveFromMs' | 'authorKeyId' | 'reason'
> {
  readonly isOfFile?: boolean
  /** Null: those of the list before stay. */
  readonly costs: readonly OfferedCost[] | null
}

interface PriceRow extends NewPrice {
  readonly model: string
  readonly version: bigint
  readonly nowMs: number
}

export async function insertPrice(transaction: Queryable, row: PriceRow): Promise<void> {
  const { model, version, effectiveFromMs, nowMs } = row
  const [count] = await transaction.query<{ future: bigint; recent: bigint }>(
    `SELECT count(*) FILTER (WHERE effective_from > $2) AS future, count(*) FILTER (WHERE effective_from <= $2) AS recent
     FROM model_prices WHERE model = $1 AND withdrawn_at IS NULL
       AND effective_from > $2::timestamptz - interval '${RECENT_DAYS} days'`,
    [model, new Date(nowMs)],
  )
  if (Number(count?.future ?? 0) >= FUTURE_MAX)
    throw new AppError('conflict', `This model already has ${FUTURE_MAX} price lists of the future.`)
  if (Number(count?.recent ?? 0) >= RECENT_MAX)
    throw new AppError(
      'conflict',
      `This model already got ${RECENT_MAX} price lists in the last ${RECENT_DAYS} days.`,
    )
  const rows = await transaction.query(
    `INSERT INTO model_prices (version, model, effective_from, price, rates, author_key_id, reason, created_at, is_of_file, costs)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce($10::jsonb, ${COSTS_BEFORE}))
     ON CONFLICT (model, effective_from) WHERE withdrawn_at IS NULL DO NOTHING RETURNING 1`,
    [
      version,
      model,
      new Date(effectiveFromMs),
      JSON.stringify(row.price),
      JSON.stringify(row.rates),
      row.authorKeyId,
      row.reason,
      new Date(nowMs),
      row.isOfFile ?? false,
      row.costs === null ? null : JSON.stringify(row.costs),
    ],
  )
  if (rows.length === 0)
    throw new AppError('conflict', 'This model already has a price list from this moment on.')
}

export async function addPrice(transaction: Queryable, row: Omit<PriceRow, 'version'>): Promise<bigint> {
  const version = await takeVersion(transaction)
  await insertPrice(transaction, { ...row, version })
  return version
}

/** Adds a price list at once, after the one that is in effect. Null: that of the file. */
export async function replacePrice(
  transaction: Queryable,
  known: bigint | null,
  row: Omit<PriceRow, 'version' | 'effectiveFromMs'>,
): Promise<bigint> {
  const version = await takeVersion(transaction)
  const { model, nowMs } = row
  const [current] = await transaction.query<{ version: bigint }>(
    `SELECT version FROM model_prices p WHERE model = $1 AND effective_from <= $2 AND withdrawn_at IS NULL AND ${IS_OF_THIS_MODEL}
     ORDER BY effective_from DESC LIMIT 1`,
    [model, new Date(nowMs)],
  )
  if ((current?.version ?? null) !== known)
    throw new AppError('conflict', 'This model got another price list meanwhile. Read it again.')
  await insertPrice(transaction, { ...row, version, effectiveFromMs: nowMs })
  return version
}

/** The row stays, in case a process used it in the moment before it heard of this. */
export async function withdrawPrice(
  transaction: Queryable,
  { version: known, model }: OfferedPrice,
  nowMs: number,
): Promise<bigint> {
  const version = await takeVersion(transaction)
  const rows = await transaction.query(
    `UPDATE model_prices SET withdrawn_at = $3
     WHERE model = $1 AND version = $2 AND effective_from > $3 AND withdrawn_at IS NULL RETURNING 1`,
    [model, known, new Date(nowMs)],
  )
  if (rows.length === 0)
    throw new AppError('conflict', 'This price list has effect already, or was withdrawn meanwhile.')
  return version
}

export async function withdrawFuture(transaction: Queryable, model: string, nowMs: number): Promise<void> {
  await transaction.query(
    'UPDATE model_prices SET withdrawn_at = $2 WHERE model = $1 AND effective_from > $2 AND withdrawn_at IS NULL',
    [model, new Date(nowMs)],
  )
}

/** Not of a model of this name that was removed. */
const IS_OF_THIS_MODEL =
  'NOT EXISTS (SELECT FROM offered_models m WHERE m.id = p.model AND m.removed_at >= p.effective_from)'

/**
 * Those of the price list before: not of a model of this name that was removed, and none of them if they are in another unit than the
 * price, because they cannot be compared with it.
 */
const COSTS_BEFORE = `(
  SELECT CASE WHEN EXISTS (
      SELECT FROM jsonb_array_elements(p.costs) given WHERE given -> 'cost' ->> 'unit' IS DISTINCT FROM $4::jsonb ->> 'unit')
    THEN '[]'::jsonb ELSE p.costs END
  FROM model_prices p WHERE p.model = $2 AND p.effective_from <= $3 AND p.withdrawn_at IS NULL
    AND ${IS_OF_THIS_MODEL}
  ORDER BY p.effective_from DESC LIMIT 1)`
