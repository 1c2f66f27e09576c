import { uuidOfRequest } from '../../kernel/identifiers.ts'
import { clientRequestIdOf } from '../../http/client-request-id.ts'
import type { FinishedExchange } from '../../http/exchange-tracker.ts'
import type { Deployments } from '../../modules/deployments/deployments.ts'
import type { InferenceRecord } from '../../modules/inference/inference.ts'
import type { RequestLog, StoredBodies } from '../../modules/request-log/request-log.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Tracer } from '../../telemetry/tracing.ts'
import type { RequestMessage } from '../../http/message.ts'
import { CLIENT_CLOSED_REQUEST, describeInference } from './report-call.ts'
import type { Usage } from '../../modules/usage/usage.ts'
import { measureDeployment } from './measure-deployment.ts'
import { findBrokenStream } from './measure-provider.ts'
import { traceInference } from './trace-inference.ts'

interface ReporterOptions {
  readonly deployments: Pick<Deployments, 'noteRequest'>
  readonly requestLog: Pick<RequestLog, 'noteEnded'>
  readonly storedBodies: Pick<StoredBodies, 'note'>
  readonly vendors: Pick<Usage['vendors'], 'noteBroken'>
  readonly metrics: Metrics
  readonly logger: GatewayLogger
  /** Null if tracing is off. */
  readonly tracer: Tracer | null
  readonly clientAddressOf: (incoming: RequestMessage) => string
}

/** Creates a reporter that records how a request ended, in the metrics, the access log and the trace. */
export function createExchangeReporter(options: ReporterOptions) {
  const { metrics, logger, tracer, vendors, deployments, requestLog, storedBodies, clientAddressOf } = options
  return ({ exchange, durationMs, isDisconnected }: FinishedExchange): void => {
    const { id, incoming, response, route, caller, inference, errorCode, errorMessage } = exchange
    const clientRequestId = clientRequestIdOf(incoming.headers)
    const status = isDisconnected ? CLIENT_CLOSED_REQUEST : response.statusCode
    const { model, provider, firstTokenMs, usage, costUsd, operation } = describeInference(inference)
    const isWorkHere = inference !== null && !isHandedOn(inference)
    const traceId =
      tracer && isWorkHere
        ? traceInference(tracer, {
            record: inference,
            requestId: id,
            accountId: caller?.accountId,
            durationMs,
            status,
            errorCode,
          })
        : null
    metrics.requestFinished({
      route,
      status,
      durationMs,
      usage,
      model,
      provider,
      firstTokenMs,
      // The worker of a task counts what it cost, also if its request waited for it.
      costUsd: isWorkHere ? costUsd : undefined,
      operation: isWorkHere ? operation : undefined,
      traceId,
    })
    if (inference !== null) measureDeployment(deployments, inference, durationMs)
    const broken = inference?.outcome === 'failed' ? findBrokenStream(inference) : null
    if (broken !== null) vendors.noteBroken(broken)
    if (isDisconnected) metrics.clientDisconnected({ route, model })
    // Answered requests are logged with their usage.
    if (caller !== null && (status >= 400 || inference?.outcome === 'failed')) {
      const { accountId, keyId, environment, labels, isZeroRetention } = caller
      const record = inference
      requestLog.noteEnded({
        requestId: id,
        accountId,
        keyId,
        environment,
        route,
        record,
        status,
        errorCode,
        errorMessage: isZeroRetention === true ? null : errorMessage,
        durationMs,
        labels,
        clientRequestId,
      })
    }
    if (exchange.capture !== null && caller !== null) {
      const { accountId, keyId } = caller
      const { request, answer, requestBytes, answerBytes } = exchange.capture
      storedBodies.note({
        id: uuidOfRequest(id),
        accountId,
        keyId,
        request,
        answer,
        requestBytes,
        answerBytes,
      })
    }
    logger.logAccess({
      requestId: id,
      clientRequestId: clientRequestId ?? undefined,
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

/** Returns whether the work was only handed to a task. The task has its own span, and its worker counts it. */
function isHandedOn({ outcome, attempts }: InferenceRecord): boolean {
  return outcome === 'completed' && attempts.length === 0
}
