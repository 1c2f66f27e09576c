import type { FinishedExchange } from '../http/exchange-tracker.ts'
import type { InferenceRecord } from '../modules/inference/inference.ts'
import type { GatewayLogger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Tracer } from '../telemetry/tracing.ts'
import type { RequestMessage } from '../http/message.ts'
import { finishSpan, tokenCounts, traceEnded } from './trace-inference.ts'

/** Nginx's name for a client that left before it was answered; our log says the same. */
const CLIENT_CLOSED_REQUEST = 499

interface ReporterOptions {
  readonly metrics: Metrics
  readonly logger: GatewayLogger
  /** Null while tracing is off. */
  readonly tracer: Tracer | null
  readonly clientAddressOf: (incoming: RequestMessage) => string
}

/** Tells the metrics, the access log and the trace how a request ended. */
export function createExchangeReporter({ metrics, logger, tracer, clientAddressOf }: ReporterOptions) {
  return ({ exchange, durationMs, isDisconnected }: FinishedExchange): void => {
    const { id, incoming, response, route, caller, inference, span, errorCode } = exchange
    const status = isDisconnected ? CLIENT_CLOSED_REQUEST : response.statusCode
    const { model, provider, firstTokenMs, usage } = describeInference(inference)
    metrics.requestFinished({ route, status, durationMs, usage, model, provider, firstTokenMs })
    if (isDisconnected) metrics.clientDisconnected({ route, model })
    if (span && inference) finishSpan(span, inference, status)
    else if (tracer && inference) {
      const { traceparent } = incoming.headers
      traceEnded(tracer, {
        record: inference,
        requestId: id,
        accountId: caller?.accountId,
        durationMs,
        status,
        traceparent: typeof traceparent === 'string' ? traceparent : undefined,
      })
    }
    logger.logAccess({
      requestId: id,
      method: incoming.method ?? '',
      route,
      status,
      durationMs,
      clientAddress: clientAddressOf(incoming),
      accountId: caller?.accountId,
      keyId: caller?.keyId,
      model,
      provider,
      firstTokenMs,
      attempts: inference?.attempts.length,
      tokens: usage,
      requestBytes: exchange.requestBytes,
      errorCode: errorCode ?? undefined,
      isAborted: isDisconnected,
      prompt: exchange.bodyText ?? undefined,
    })
  }
}

function describeInference(inference: InferenceRecord | null) {
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
