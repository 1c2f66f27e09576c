import { toTimestamp } from '../../kernel/clock.ts'
import { requestIdOf } from '../../kernel/identifiers.ts'
import type { ExportedRequest } from '../../exports/exported-request.ts'
import { vendorOf } from '../../providers/vendors.ts'
import { OPERATION_TRAITS } from '../inference/inference.ts'
import { tagsOf } from '../keys/keys.ts'
import type { LoggedRequest } from '../request-log/request-log.ts'

interface Queued {
  readonly number: bigint
  readonly queuedAtMs: number
}

/** What an export says of a request: what operators see in the log. */
export function describeRequest(
  { entry, isCharged, projectId, units }: LoggedRequest,
  { number, queuedAtMs }: Queued,
): ExportedRequest {
  const provider = entry.provider || null
  return {
    object: 'exported_request',
    number: Number(number),
    request_id: requestIdOf(entry.id),
    created_at: toTimestamp(entry.createdAtMs),
    recorded_at: toTimestamp(queuedAtMs),
    account_id: entry.accountId,
    account_name: entry.accountName,
    project_id: projectId,
    key_id: entry.keyId,
    key_name: entry.keyName,
    env: entry.environment,
    operation: entry.operation,
    requested_model: entry.requestedModel,
    model: entry.model || null,
    provider,
    gen_ai_operation: TRACED.get(entry.operation) ?? entry.operation,
    gen_ai_provider: provider === null ? null : (vendorOf(provider)?.traceName ?? provider),
    outcome: entry.outcome,
    charged: isCharged,
    http_status: entry.httpStatus,
    error_code: entry.errorCode,
    error_message: entry.errorMessage,
    upstream_status: entry.upstreamError?.status ?? null,
    upstream_code: entry.upstreamError?.code ?? null,
    upstream_message: entry.upstreamError?.message ?? null,
    stream: entry.isStream,
    batch: entry.isBatch,
    latency_ms: entry.latencyMs,
    ttft_ms: entry.firstTokenMs,
    prompt_tokens: entry.promptTokens,
    cached_tokens: entry.cachedTokens,
    cache_write_tokens: entry.cacheWriteTokens,
    completion_tokens: entry.completionTokens,
    reasoning_tokens: entry.reasoningTokens,
    units,
    cost_nano_usd: Number(entry.costNanoUsd),
    promotional_nano_usd: Number(entry.promotionalNanoUsd),
    uncovered_nano_usd: Number(entry.uncoveredNanoUsd),
    vendor_cost_nano_usd: entry.vendorCostNanoUsd === null ? null : Number(entry.vendorCostNanoUsd),
    user: entry.endUser,
    client_request_id: entry.clientRequestId,
    attempts: entry.attempts?.length ?? null,
    tags: Object.fromEntries(tagsOf(entry.labels)),
  }
}

const TRACED: ReadonlyMap<string, string> = new Map(
  Object.entries(OPERATION_TRAITS).map(([operation, { traced }]) => [operation, traced]),
)
