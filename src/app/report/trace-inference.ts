import { OPERATION_TRAITS, outputLimitOf, type InferenceRecord } from '../../modules/inference/inference.ts'
import { vendorOf } from '../../providers/vendors.ts'
import type { TokenCounts } from '../../telemetry/token-counts.ts'
import type { InferenceStart, Tracer } from '../../telemetry/tracing.ts'

interface EndedInference {
  readonly record: InferenceRecord
  readonly requestId: string
  readonly accountId: string | undefined
  readonly durationMs: number
  readonly status: number
  readonly traceparent?: string | undefined
}

/**
 * Records the span of an inference. It is created at the end with the real start time, so that a running request has no overhead.
 */
export function traceInference(tracer: Tracer, ended: EndedInference): void {
  const { record, requestId, accountId, durationMs, status, traceparent } = ended
  const { provider, model, firstTokenMs, usage, outcome, attempts } = record
  const span = tracer.startInference({
    operation: OPERATION_TRAITS[record.operation].traced,
    work: record.operation,
    requestId,
    startedAtMs: Date.now() - durationMs,
    ...(accountId === undefined ? {} : { accountId }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...describeAsked(record),
  })
  if (provider !== null) span.setProvider({ provider: vendorOf(provider)?.traceName ?? provider })
  if (model !== null) span.setResponse({ model })
  if (firstTokenMs !== null) span.setFirstToken(firstTokenMs)
  if (usage !== null) span.setUsage(tokenCounts(usage))
  span.finish({
    status,
    attempts: attempts.length,
    // An inference that was refused before it ran counts as failed too.
    ...(outcome === 'completed' ? {} : { error: { type: outcome === 'running' ? 'failed' : outcome } }),
  })
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
