import type { NanoUsd } from '../../kernel/money.ts'
import { unpackDetails, type AttemptDetails } from '../inference/inference.ts'

/** How a request ended. `refused`: the gateway refused it before an upstream was called. */
export const LOG_OUTCOMES = ['completed', 'disconnected', 'failed', 'refused'] as const
export type LogOutcome = (typeof LOG_OUTCOMES)[number]

/** One request of the log. */
export interface LogEntry {
  readonly id: string
  readonly accountId: string
  readonly accountName: string | null
  readonly keyId: string
  /** Null if the key was deleted with its account. */
  readonly keyName: string | null
  readonly environment: string
  readonly operation: string
  /** The id or alias that the client sent. Null if it is not known. */
  readonly requestedModel: string | null
  /** The model of the catalog that answered. Empty if none was found. */
  readonly model: string
  /** Empty if no upstream answered. */
  readonly provider: string
  readonly outcome: LogOutcome
  readonly httpStatus: number | null
  readonly errorCode: string | null
  /** What the client was told. Null if it was not recorded. */
  readonly errorMessage: string | null
  /** Equal for equal errors. Null for requests with a charge, and those of an earlier release. */
  readonly errorKey: string | null
  /** What the last upstream that failed said, for operators. */
  readonly upstreamError: UpstreamSaid | null
  readonly isStream: boolean | null
  /** Whether it was a line of a batch. */
  readonly isBatch: boolean
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  readonly costNanoUsd: NanoUsd
  readonly promotionalNanoUsd: NanoUsd
  readonly uncoveredNanoUsd: NanoUsd
  /** What the vendor charges, for operators. Null: unknown. */
  readonly vendorCostNanoUsd: NanoUsd | null
  readonly latencyMs: number
  readonly firstTokenMs: number | null
  /** The client's own name of its user. */
  readonly endUser: string | null
  /** The client's own id of the request. */
  readonly clientRequestId: string | null
  /** Null if they were not recorded. */
  readonly attempts: readonly AttemptDetails[] | null
  readonly createdAtMs: number
  /** Its tags and the groups of its caller. */
  readonly labels: readonly string[]
}

interface UpstreamSaid {
  readonly status: number | null
  readonly code: string | null
  readonly message: string | null
}

export interface LogRow {
  readonly id: string
  readonly account_id: string
  readonly account_name: string | null
  readonly key_id: string
  readonly key_name: string | null
  readonly environment: string
  readonly operation: string
  readonly model: string
  readonly provider: string
  readonly outcome: LogOutcome
  readonly http_status: number | null
  readonly error_code: string | null
  readonly error_message: string | null
  readonly upstream_status: number | null
  readonly upstream_code: string | null
  readonly upstream_message: string | null
  readonly error_key: string | null
  readonly prompt_tokens: bigint
  readonly cached_tokens: bigint
  readonly cache_write_tokens: bigint
  readonly completion_tokens: bigint
  readonly reasoning_tokens: bigint
  readonly cost_nano_usd: bigint
  readonly promotional_nano_usd: bigint
  readonly uncovered_nano_usd: bigint
  readonly vendor_cost_nano_usd: bigint | null
  readonly latency_ms: number
  readonly first_token_ms: number | null
  readonly details: string | null
  readonly created_at: Date
  readonly labels: string[] | null
}

export function entryFromRow(row: LogRow): LogEntry {
  const details = unpackDetails(row.details, row)
  return {
    id: row.id,
    accountId: row.account_id,
    accountName: row.account_name,
    keyId: row.key_id,
    keyName: row.key_name,
    environment: row.environment,
    operation: row.operation,
    requestedModel: details?.requestedModel ?? null,
    model: row.model,
    provider: row.provider,
    outcome: row.outcome,
    httpStatus: row.http_status,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    errorKey: row.error_key,
    upstreamError: upstreamErrorOf(row),
    isStream: details?.isStream ?? (row.first_token_ms === null ? null : true),
    isBatch: details?.isBatch ?? false,
    promptTokens: Number(row.prompt_tokens),
    cachedTokens: Number(row.cached_tokens),
    cacheWriteTokens: Number(row.cache_write_tokens),
    completionTokens: Number(row.completion_tokens),
    reasoningTokens: Number(row.reasoning_tokens),
    costNanoUsd: row.cost_nano_usd,
    promotionalNanoUsd: row.promotional_nano_usd,
    uncoveredNanoUsd: row.uncovered_nano_usd,
    vendorCostNanoUsd: row.vendor_cost_nano_usd,
    latencyMs: row.latency_ms,
    firstTokenMs: row.first_token_ms,
    endUser: details?.endUser ?? null,
    clientRequestId: details?.clientRequestId ?? null,
    attempts: details?.attempts ?? null,
    createdAtMs: row.created_at.getTime(),
    labels: row.labels ?? [],
  }
}

function upstreamErrorOf(row: LogRow): UpstreamSaid | null {
  const { upstream_status: status, upstream_code: code, upstream_message: message } = row
  return status === null && code === null && message === null ? null : { status, code, message }
}
