import type { Environment, Reader } from '../keys/keys.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { isKeyOfProject } from '../usage/usage.ts'
import type { LogOutcome } from './log-entry.ts'

/** Filters for the log. */
export interface LogFilter {
  readonly keyId?: string
  readonly model?: string
  readonly provider?: string
  readonly environment?: Environment
  readonly operation?: string
  readonly outcome?: LogOutcome
  readonly httpStatus?: number
  readonly errorCode?: string
  readonly latencyMsMin?: number
  readonly costNanoUsdMin?: NanoUsd
  readonly projectId?: string
  /** The label of a tag. */
  readonly label?: string
}

/** One table of the log, with the columns of `LogRow` as SQL. */
export interface LogPart {
  readonly table: string
  readonly columns: string
}

/** Charged requests. A failure that is charged happened in the middle of a stream, whose status was already sent. */
export const CHARGED: LogPart = {
  table: 'usage_records',
  columns: `id, key_id, environment, operation, model, provider, outcome,
    CASE outcome WHEN 'disconnected' THEN 499 ELSE 200 END AS http_status, nullif(split_part(details, ';', 3), '') AS error_code,
    prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens, cost_nano_usd, promotional_nano_usd,
    uncovered_nano_usd, latency_ms, first_token_ms, details, created_at, labels`,
}

/** Requests without a charge. */
export const FAILED: LogPart = {
  table: 'failed_requests',
  columns: `id, key_id, environment, operation, model, provider, outcome, http_status, error_code,
    0::bigint AS prompt_tokens, 0::bigint AS cached_tokens, 0::bigint AS cache_write_tokens, 0::bigint AS completion_tokens,
    0::bigint AS reasoning_tokens, 0::bigint AS cost_nano_usd, 0::bigint AS promotional_nano_usd,
    0::bigint AS uncovered_nano_usd, latency_ms, first_token_ms, details, created_at, labels`,
}

const FILTERS = [
  ['keyId', 'key_id =', 'uuid'],
  ['model', 'model =', 'text'],
  ['provider', 'provider =', 'text'],
  ['environment', 'environment =', 'text'],
  ['operation', 'operation =', 'text'],
  ['outcome', 'outcome =', 'text'],
  ['httpStatus', 'http_status =', 'integer'],
  ['errorCode', 'error_code =', 'text'],
  ['latencyMsMin', 'latency_ms >=', 'integer'],
  ['costNanoUsdMin', 'cost_nano_usd >=', 'bigint'],
  ['label', 'labels @> ARRAY', 'text'],
] as const satisfies readonly (readonly [keyof LogFilter, string, string])[]

/** Always binds all filters, so that the statement text is the same and is planned once. */
export function logConditions(
  filter: LogFilter,
  { ownKeyId, projectId }: Reader,
  bind: (value: unknown) => string,
): string {
  const own = `${bind(ownKeyId)}::uuid`
  const conditions = FILTERS.map(([name, comparison, type]) => {
    const parameter = `${bind(filter[name] ?? null)}::${type}`
    const compared = comparison.endsWith('ARRAY')
      ? `${comparison}[${parameter}]`
      : `${comparison} ${parameter}`
    return ` AND (${parameter} IS NULL OR ${compared})`
  })
  // The reader's project decides, whatever is asked for. `$1` is the account.
  for (const project of [projectId, filter.projectId ?? null])
    conditions.push(` AND ${isKeyOfProject('$1::uuid', `${bind(project)}::uuid`)}`)
  return ` AND (${own} IS NULL OR key_id = ${own})${conditions.join('')}`
}
