import type { FinishedExchange } from '../http/observe-requests.ts'
import type { InferenceRecord } from '../modules/chat/chat.ts'
import type { GatewayLogger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { InferenceSpan } from '../telemetry/tracing.ts'

/** Nginx's name for a client that left before it was answered; our log says the same. */
const CLIENT_CLOSED_REQUEST = 499

/** Tells the metrics and the access log how a request ended. */
export function createExchangeReporter({ metrics, logger }: { metrics: Metrics; logger: GatewayLogger }) {
  return (exchange: FinishedExchange): void => {
    const { request, route, durationMs, isDisconnected } = exchange
    const { caller, inference, span } = request.state
    const status = isDisconnected ? CLIENT_CLOSED_REQUEST : exchange.status
    const about = inference ? describeInference(inference) : {}
    metrics.requestFinished({ route, status, durationMs, ...about })
    if (isDisconnected) metrics.clientDisconnected({ route, ...(about.model ? { model: about.model } : {}) })
    if (span && inference) finishSpan(span, inference, status)
    const { usage, ...rest } = about
    logger.logAccess({
      requestId: request.id,
      method: request.method,
      route,
      status,
      durationMs,
      clientAddress: request.ip,
      ...(caller ? { accountId: caller.accountId, keyId: caller.keyId } : {}),
      ...rest,
      ...(usage ? { tokens: usage } : {}),
      ...(inference ? { attempts: inference.attempts.length } : {}),
      ...(isDisconnected ? { isAborted: true } : {}),
      ...(Buffer.isBuffer(request.body) ? { requestBytes: request.body.length } : {}),
    })
  }
}

function finishSpan(span: InferenceSpan, inference: InferenceRecord, status: number): void {
  const { provider, firstTokenMs, usage } = describeInference(inference)
  if (provider !== undefined) span.setProvider({ provider })
  if (firstTokenMs !== undefined) span.setFirstToken(firstTokenMs)
  if (usage !== undefined) span.setUsage(usage)
  const isFailed = inference.outcome !== 'completed'
  span.finish({
    status,
    attempts: inference.attempts.length,
    ...(isFailed ? { error: { type: inference.outcome } } : {}),
  })
}

function describeInference({ model, provider, firstTokenMs, usage }: InferenceRecord) {
  return {
    ...(model === null ? {} : { model }),
    ...(provider === null ? {} : { provider }),
    ...(firstTokenMs === null ? {} : { firstTokenMs }),
    ...(usage === null
      ? {}
      : {
          usage: {
            prompt: usage.promptTokens,
            completion: usage.completionTokens,
            cached: usage.cachedTokens,
            reasoning: usage.reasoningTokens,
          },
        }),
  }
}
