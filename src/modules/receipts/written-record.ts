import { IS_BATCH, PRICE_VERSION } from '../ledger/ledger.ts'
import { requestIdOf } from '../../kernel/identifiers.ts'

/** SQL: what a written record is made of. What only the operator may know, such as the cost at the vendor, is no part of it. */
export const WRITTEN_COLUMNS = `id, key_id, environment, operation, model, provider, outcome, prompt_tokens, cached_tokens,
  cache_write_tokens, completion_tokens, reasoning_tokens, units, cost_nano_usd, promotional_nano_usd, uncovered_nano_usd, latency_ms,
  first_token_ms, created_at, labels, ${PRICE_VERSION} AS price_version, ${IS_BATCH} AS is_batch`

export interface WrittenRow {
  readonly id: string
  readonly key_id: string
  readonly environment: string
  readonly operation: string
  readonly model: string
  readonly provider: string
  readonly outcome: string
  readonly prompt_tokens: bigint
  readonly cached_tokens: bigint
  readonly cache_write_tokens: bigint
  readonly completion_tokens: bigint
  readonly reasoning_tokens: bigint
  readonly units: bigint
  readonly cost_nano_usd: bigint
  readonly promotional_nano_usd: bigint
  readonly uncovered_nano_usd: bigint
  readonly latency_ms: number
  readonly first_token_ms: number | null
  readonly created_at: Date
  readonly labels: string[] | null
  readonly price_version: string | null
  readonly is_batch: boolean
}

/**
 * Writes a record as one line of JSON. Receipts are about these bytes: a change of the form would make every record look changed, so it
 * may only be made for records of days after it.
 */
export function writeRecord(accountId: string, row: WrittenRow): string {
  return JSON.stringify({
    request_id: requestIdOf(row.id),
    account_id: accountId,
    key_id: row.key_id,
    env: row.environment,
    operation: row.operation,
    model: row.model,
    provider: row.provider,
    outcome: row.outcome,
    prompt_tokens: String(row.prompt_tokens),
    cached_tokens: String(row.cached_tokens),
    cache_write_tokens: String(row.cache_write_tokens),
    completion_tokens: String(row.completion_tokens),
    reasoning_tokens: String(row.reasoning_tokens),
    units: String(row.units),
    cost_nano_usd: String(row.cost_nano_usd),
    promotional_nano_usd: String(row.promotional_nano_usd),
    uncovered_nano_usd: String(row.uncovered_nano_usd),
    latency_ms: row.latency_ms,
    first_token_ms: row.first_token_ms,
    created_at: row.created_at.toISOString(),
    price_version: row.price_version,
    batch: row.is_batch,
    labels: row.labels ?? [],
  })
}
