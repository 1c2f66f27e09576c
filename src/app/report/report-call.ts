import { toErrorAnswer } from '../../http/answers/error-envelope.ts'
import type { EndedCall, InferenceRecord } from '../../modules/inference/inference.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Tracer } from '../../telemetry/tracing.ts'
import { tokenCounts, traceInference } from './trace-inference.ts'

/** Nginx's name for a client that left before it was answered; our log says the same. */
export const CLIENT_CLOSED_REQUEST = 499

interface CallReporterOptions {
  readonly metrics: Metrics
  readonly logger: GatewayLogger
  /** Null while tracing is off. */
  readonly tracer: Tracer | null
}

/** Tells the metrics, the access log and the trace of a call that no exchange belongs to, as `report-exchange.ts` does of others. */
export function createCallReporter({ metrics, logger, tracer }: CallReporterOptions) {
  return ({ route, request, durationMs, error }: EndedCall): void => {
    const { caller, requestId, record } = request
    const { accountId, keyId } = caller
    const isAborted = record.outcome === 'disconnected'
    const answer = error === null ? null : toErrorAnswer(error, requestId)
    const status = isAborted ? CLIENT_CLOSED_REQUEST : (answer?.status ?? 200)
    const inference = describeInference(record)
    metrics.requestStarted(route)
    metrics.requestFinished({ route, status, durationMs, ...inference })
    if (tracer !== null) traceInference(tracer, { record, requestId, accountId, durationMs, status })
    const { usage: tokens, ...known } = inference
    logger.logAccess({
      requestId,
      route,
      status,
      durationMs,
      accountId,
      keyId,
      ...known,
      attempts: record.attempts.length,
      tokens,
      requestBytes: request.bytes,
      errorCode: answer?.body.error.code,
      isAborted,
      prompt: request.text === '' ? undefined : request.text,
    })
  }
}

export function describeInference(inference: InferenceRecord | null) {
  if (inference === null) return NO_INFERENCE
  const { model, provider, firstTokenMs, usage } = inference
  return {
    model: model ?? undefined,
    provider: provider ?? undefined,
    firstTokenMs: firstTokenMs ?? undefined,
    usage: usage === null ? undefined : tokenCounts(usage),
  }
}

/** With the same members as any other, so that reading them costs the same. */
const NO_INFERENCE = { model: undefined, provider: undefined, firstTokenMs: undefined, usage: undefined }
