import {
  OPERATION_TRAITS,
  outputLimitOf,
  type AttemptRecord,
  type InferenceRecord,
} from '../../modules/inference/inference.ts'
import { vendorOf } from '../../providers/vendors.ts'
import type { TokenCounts } from '../../telemetry/token-counts.ts'
import type { InferenceStart, Tracer } from '../../telemetry/tracing.ts'

interface EndedInference {
  readonly record: InferenceRecord
  readonly requestId: string
  readonly accountId: string | undefined
  readonly durationMs: number
  readonly status: number
  /** The code of the error that the client got. */
  readonly errorCode: string | null
}

/**
 * Records the span of an inference and of its calls of upstreams. They are created at the end with the real start times, so that a
 * running request has no overhead. Returns the id of the trace if it is sampled.
 */
export function traceInference(tracer: Tracer, ended: EndedInference): string | null {
  const { record, requestId, accountId, durationMs, status } = ended
  const { provider, model, firstTokenMs, usage, attempts, traceparent, trace, finishReason } = record
  const operation = OPERATION_TRAITS[record.operation].traced
  const errorType = errorTypeOf(ended)
  const span = tracer.startInference({
    operation,
    work: record.operation,
    requestId,
    startedAtMs: Date.now() - durationMs,
    ...(accountId === undefined ? {} : { accountId }),
    ...(traceparent === null ? {} : { traceparent }),
    ...(trace === null ? {} : { ids: trace }),
    ...describeAsked(record),
  })
  if (provider !== null) span.setProvider({ provider: traceNameOf(provider) })
  if (model !== null) span.setResponse({ model })
  if (firstTokenMs !== null) span.setFirstToken(firstTokenMs)
  if (usage !== null) span.setUsage(tokenCounts(usage))
  if (finishReason !== null) span.setFinishReason(finishReason.slice(0, FINISH_REASON_LENGTH_MAX))
  const beganAtMs = Date.now() - (performance.now() - record.startedMs)
  for (const [resends, attempt] of attempts.entries())
    span.addAttempt({
      provider: traceNameOf(attempt.provider),
      model: attempt.upstreamModel,
      address: attempt.address ?? null,
      startedAtMs: beganAtMs + attempt.startedMs,
      durationMs: attempt.durationMs,
      resends,
      status: attempt.status,
      errorType: attempt.outcome === 'answered' ? null : failureOf(attempt),
      spanId: attempt.spanId ?? null,
    })
  span.finish({
    status,
    attempts: attempts.length,
    ...(errorType === null ? {} : { error: { type: errorType } }),
  })
  return span.traceId
}

const FINISH_REASON_LENGTH_MAX = 64

/** Why it did not complete: the code of its error, so that the failures of a dashboard have names. */
function errorTypeOf({ record, errorCode }: EndedInference): string | null {
  const { outcome } = record
  if (outcome === 'completed') return null
  if (outcome === 'disconnected') return outcome
  // An inference that was refused before it ran counts as failed too.
  return record.errorCode ?? errorCode ?? 'failed'
}

/** The status of the upstream, or how the call failed. */
function failureOf({ outcome, status }: AttemptRecord): string {
  return status === null ? outcome : String(status)
}

function traceNameOf(provider: string): string {
  return vendorOf(provider)?.traceName ?? provider
}

/** Returns the model as the client named it, and the generation parameters. */
function describeAsked({
  asked,
  model,
}: InferenceRecord): Pick<InferenceStart, 'model'> & Partial<InferenceStart> {
  if (asked === null) return { model: model ?? 'default' }
  const maxTokens = outputLimitOf(asked)
  return {
    model: asked.model ?? 'default',
    isStream: asked.stream === true,
    ...(typeof maxTokens === 'number' ? { maxTokens } : {}),
    ...(typeof asked.n === 'number' ? { choiceCount: asked.n } : {}),
    ...(typeof asked.temperature === 'number' ? { temperature: asked.temperature } : {}),
    ...(typeof asked.top_p === 'number' ? { topP: asked.top_p } : {}),
    ...(typeof asked.seed === 'number' ? { seed: asked.seed } : {}),
  }
}

export function tokenCounts(usage: NonNullable<InferenceRecord['usage']>): TokenCounts {
  return {
    prompt: usage.promptTokens,
    completion: usage.completionTokens,
    cached: usage.cachedTokens,
    cacheWrite: usage.cacheWriteTokens,
    reasoning: usage.reasoningTokens,
  }
}
