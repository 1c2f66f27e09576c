import type { Environment, Reader } from '../keys/keys.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { isKeyOfProject } from '../usage/usage.ts'
import type { LogOutcome } from './log-entry.ts'

/** Filters for the log. */
export interface LogFilter {
  readonly keyId?: string
  readonly model?: string
  /** Who answered. Of a request that failed: who was called. */
  readonly provider?: string
  /** Who was called, also if another one answered. */
  readonly attemptedProvider?: string
  readonly environment?: Environment
  readonly operation?: string
  readonly outcome?: LogOutcome
  readonly httpStatus?: number
  readonly errorCode?: string
  /** A part of the code or the message that the client got. */
  readonly errorText?: string
  /** The same, or a part of what the upstream said. For operators: accounts must not find out by searching what they do not see. */
  readonly anyErrorText?: string
  /** Requests with equal errors. */
  readonly errorKey?: string
  readonly latencyMsMin?: number
  readonly costNanoUsdMin?: NanoUsd
  readonly projectId?: string
  /** The label of a tag. */
  readonly label?: string
}

/** One table of the log, with the columns of `LogRow` as SQL. */
export interface LogPart {
  readonly table: 'usage_records' | 'failed_requests'
  readonly columns: string
}

/** Charged requests. A failure that is charged happened in the middle of a stream, whose status was already sent. */
export const CHARGED: LogPart = {
  table: 'usage_records',
  columns: `account_id, id, key_id, environment, operation, model, provider, outcome,
    CASE outcome WHEN 'disconnected' THEN 499 ELSE 200 END AS http_status, nullif(split_part(details, ';', 3), '') AS error_code,
    NULL::text AS error_message, NULL::integer AS upstream_status, NULL::text AS upstream_code, NULL::text AS upstream_message,
    NULL::text AS error_key, prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens, cost_nano_usd,
    promotional_nano_usd, uncovered_nano_usd, latency_ms, first_token_ms, details, created_at, labels, vendor_cost_nano_usd`,
}

/** Requests without a charge. */
export const FAILED: LogPart = {
  table: 'failed_requests',
  columns: `account_id, id, key_id, environment, operation, model, provider, outcome, http_status, error_code,
    error_message, upstream_status, upstream_code, upstream_message, error_key,
    0::bigint AS prompt_tokens, 0::bigint AS cached_tokens, 0::bigint AS cache_write_tokens, 0::bigint AS completion_tokens,
    0::bigint AS reasoning_tokens, 0::bigint AS cost_nano_usd, 0::bigint AS promotional_nano_usd,
    0::bigint AS uncovered_nano_usd, latency_ms, first_token_ms, details, created_at, labels,
    NULL::bigint AS vendor_cost_nano_usd`,
}

/** SQL: whether an upstream was called. Attempts at the provider of the request itself are packed without its name. */
const isAttempted = (provider: string): string =>
  `(provider = ${provider} OR strpos(details, ';' || ${provider} || '+') > 0 OR strpos(details, '|' || ${provider} || '+') > 0)`

const hasText = (columns: readonly string[], text: string): string =>
  `(${columns.map((column) => `strpos(lower(${column}), lower(${text})) > 0`).join(' OR ')})`

const TOLD = ['error_code', 'error_message']

type Condition = (parameter: string, part: LogPart) => string

const equals =
  (column: string): Condition =>
  (parameter) =>
    `${column} = ${parameter}`
const atLeast =
  (column: string): Condition =>
  (parameter) =>
    `${column} >= ${parameter}`

const FILTERS: readonly (readonly [Exclude<keyof LogFilter, 'projectId'>, string, Condition])[] = [
  ['keyId', 'uuid', equals('key_id')],
  ['model', 'text', equals('model')],
  [
    'provider',
    'text',
    (name, { table }) => (table === 'failed_requests' ? isAttempted(name) : `provider = ${name}`),
  ],
  ['attemptedProvider', 'text', isAttempted],
  ['environment', 'text', equals('environment')],
  ['operation', 'text', equals('operation')],
  ['outcome', 'text', equals('outcome')],
  ['httpStatus', 'integer', equals('http_status')],
  ['errorCode', 'text', equals('error_code')],
  ['errorText', 'text', (text) => hasText(TOLD, text)],
  ['anyErrorText', 'text', (text) => hasText([...TOLD, 'upstream_code', 'upstream_message'], text)],
  ['errorKey', 'text', equals('error_key')],
  ['latencyMsMin', 'integer', atLeast('latency_ms')],
  ['costNanoUsdMin', 'bigint', atLeast('cost_nano_usd')],
  ['label', 'text', (label) => `labels @> ARRAY[${label}]`],
]

/** Always binds all filters, so that the statement text is the same and is planned once. */
export function logConditions(
  part: LogPart,
  filter: LogFilter,
  { ownKeyId, projectId }: Pick<Reader, 'ownKeyId' | 'projectId'>,
  bind: (value: unknown) => string,
  /** SQL for the id of the account. */
  owner: string,
): string {
  const own = `${bind(ownKeyId)}::uuid`
  const conditions = FILTERS.map(([name, type, conditionOf]) => {
    const parameter = `${bind(filter[name] ?? null)}::${type}`
    return ` AND (${parameter} IS NULL OR ${conditionOf(parameter, part)})`
  })
  // The reader's project decides, whatever is asked for.
  for (const project of [projectId, filter.projectId ?? null])
    conditions.push(` AND ${isKeyOfProject(owner, `${bind(project)}::uuid`)}`)
  return ` AND (${own} IS NULL OR key_id = ${own})${conditions.join('')}`
}

/** Whether a table can have requests that match, so that the other one is not searched in vain. */
export function mayMatch({ table }: LogPart, filter: LogFilter): boolean {
  const { outcome, httpStatus, errorKey, costNanoUsdMin = 0n } = filter
  if (table === 'failed_requests')
    return outcome !== 'completed' && costNanoUsdMin === 0n && (httpStatus ?? 400) >= 400
  const isOtherStatus = httpStatus !== undefined && httpStatus !== 200 && httpStatus !== CLIENT_LEFT
  return outcome !== 'refused' && errorKey === undefined && !isOtherStatus
}

/** Whether only requests match that did not complete. */
export function isAboutFailures(filter: LogFilter): boolean {
  const { outcome, httpStatus, errorCode, errorText, anyErrorText, errorKey } = filter
  if (outcome !== undefined) return outcome !== 'completed'
  return (
    [errorCode, errorText, anyErrorText, errorKey].some((value) => value !== undefined) ||
    (httpStatus ?? 0) >= 400
  )
}

const CLIENT_LEFT = 499
