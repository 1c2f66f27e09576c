import { isRecord } from '../../../kernel/is-record.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { OfferedCost, OfferedModel, OfferedPrice } from './offered-model.ts'

/** As JSON, so that one statement reads one state of all tables. */
export interface ModelJson {
  readonly id: string
  readonly entry: unknown
  readonly account_ids: readonly string[] | null
  readonly project_ids: readonly string[] | null
  readonly version: string
  readonly created_ms: number
  readonly updated_ms: number
  readonly removed_ms: number | null
}

export interface PriceJson {
  readonly version: string
  readonly model: string
  readonly effective_ms: number
  readonly price: unknown
  readonly rates: unknown
  readonly is_of_file: boolean
  readonly costs: readonly unknown[] | null
  readonly author_key_id: string | null
  readonly reason: string | null
  readonly created_ms: number
  readonly withdrawn_ms: number | null
}

/** Longer than any work that is priced by the moment it began. */
export const RECENT_DAYS = 7

const milliseconds = (column: string) => `floor(extract(epoch FROM ${column}) * 1000)`

/** With those that were removed lately. */
export const MODELS_AS_JSON = `(
  SELECT jsonb_agg(jsonb_build_object(
    'id', id, 'entry', entry, 'account_ids', account_ids, 'project_ids', project_ids, 'version', m.version::text,
    'created_ms', ${milliseconds('created_at')}, 'updated_ms', ${milliseconds('updated_at')},
    'removed_ms', ${milliseconds('removed_at')}
  ) ORDER BY m.created_at, m.id)
  FROM offered_models m WHERE removed_at IS NULL OR removed_at > now() - interval '${RECENT_DAYS} days')`

const PRICE_AS_JSON = `jsonb_build_object(
  'version', p.version::text, 'model', p.model, 'effective_ms', ${milliseconds('effective_from')}, 'price', price,
  'rates', rates, 'is_of_file', is_of_file, 'costs', costs, 'author_key_id', author_key_id, 'reason', reason, 'created_ms', ${milliseconds('created_at')},
  'withdrawn_ms', ${milliseconds('withdrawn_at')})`

/**
 * What can still be charged: the price lists of the last days and of the future, and for each model the one before. Those of a model
 * that was removed are not of a model that the file has by the same name.
 */
export const PRICES_AS_JSON = `(
  SELECT jsonb_agg(${PRICE_AS_JSON} ORDER BY effective_from, p.version)
  FROM model_prices p WHERE withdrawn_at IS NULL AND effective_from >= coalesce((
    SELECT max(effective_from) FROM model_prices before WHERE before.model = p.model AND before.withdrawn_at IS NULL
      AND before.effective_from <= now() - interval '${RECENT_DAYS} days'), '-infinity')
    AND NOT EXISTS (SELECT FROM offered_models m WHERE m.id = p.model AND m.removed_at >= p.effective_from
      AND m.removed_at <= now() - interval '${RECENT_DAYS} days'))`

const PRICES_SHOWN_MAX = 1_000

/** All price lists of a model, the latest first. Those of a removed one are not of a model that the file has by the same name. */
export async function readPricesOf(queryable: Queryable, model: string): Promise<OfferedPrice[]> {
  const rows = await queryable.query<{ price: PriceJson }>(
    `SELECT ${PRICE_AS_JSON} AS price FROM model_prices p WHERE model = $1
       AND NOT EXISTS (SELECT FROM offered_models m WHERE m.id = p.model AND m.removed_at >= p.effective_from)
     ORDER BY effective_from DESC, version DESC LIMIT ${PRICES_SHOWN_MAX}`,
    [model],
  )
  return rows.map(({ price }) => toPrice(price))
}

/** Without those of removed models, which are not of a model that the file has by the same name. */
export function withoutRemoved(
  prices: readonly OfferedPrice[],
  models: readonly OfferedModel[],
): OfferedPrice[] {
  const removals = new Map(models.map(({ id, removedAtMs }) => [id, removedAtMs ?? 0]))
  return prices.filter(({ model, effectiveFromMs }) => effectiveFromMs > (removals.get(model) ?? 0))
}

export function toModel(row: ModelJson): OfferedModel {
  return {
    id: row.id,
    entry: isRecord(row.entry) ? row.entry : {},
    visibility:
      row.account_ids === null && row.project_ids === null
        ? null
        : { accountIds: row.account_ids ?? [], projectIds: row.project_ids ?? [] },
    version: BigInt(row.version),
    createdAtMs: row.created_ms,
    updatedAtMs: row.updated_ms,
    removedAtMs: row.removed_ms,
  }
}

export function toPrice(row: PriceJson): OfferedPrice {
  return {
    version: BigInt(row.version),
    model: row.model,
    effectiveFromMs: row.effective_ms,
    price: isRecord(row.price) ? row.price : {},
    rates: row.rates,
    isOfFile: row.is_of_file,
    costs: row.costs?.flatMap(toCost) ?? null,
    authorKeyId: row.author_key_id,
    reason: row.reason,
    createdAtMs: row.created_ms,
    withdrawnAtMs: row.withdrawn_ms,
  }
}

function toCost(stored: unknown): OfferedCost[] {
  if (!isRecord(stored)) return []
  const { provider, model, cost, rates } = stored
  if (typeof provider !== 'string' || !isRecord(cost)) return []
  return [{ provider, ...(typeof model === 'string' ? { model } : {}), cost, rates }]
}
