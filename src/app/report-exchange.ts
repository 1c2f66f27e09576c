import type { FinishedExchange } from '../http/observe-requests.ts'
import type { InferenceRecord } from '../modules/chat/chat.ts'
import type { GatewayLogger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** Nginx's name for a client that left before it was answered; our log says the same. */
const CLIENT_CLOSED_REQUEST = 499

/** Tells the metrics and the access log how a request ended. */
export function createExchangeReporter({ metrics, logger }: { metrics: Metrics; logger: GatewayLogger }) {
  return (exchange: FinishedExchange): void => {
    const { request, route, durationMs, isDisconnected } = exchange
    const { caller, inference } = request.state
    const status = isDisconnected ? CLIENT_CLOSED_REQUEST : exchange.status
    const about = inference ? describeInference(inference) : {}
    metrics.requestFinished({ route, status, durationMs, ...about })
    if (isDisconnected) metrics.clientDisconnected({ route, ...(about.model ? { model: about.model } : {}) })
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
