import { toErrorAnswer } from '../../http/answers/error-envelope.ts'
import type { Deployments } from '../../modules/deployments/deployments.ts'
import { OPERATION_TRAITS, type EndedCall, type InferenceRecord } from '../../modules/inference/inference.ts'
import type { RequestLog } from '../../modules/request-log/request-log.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Tracer } from '../../telemetry/tracing.ts'
import type { Usage } from '../../modules/usage/usage.ts'
import { measureDeployment } from './measure-deployment.ts'
import { findBrokenStream } from './measure-provider.ts'
import { tokenCounts, traceInference } from './trace-inference.ts'

/** The route under which the work of tasks is reported. */
const TASK_ROUTE = '/v1/tasks'

/** Nginx's status for a client that disconnected before the answer. Our log uses the same. */
export const CLIENT_CLOSED_REQUEST = 499

interface CallReporterOptions {
  readonly deployments: Pick<Deployments, 'noteRequest'>
  readonly requestLog: Pick<RequestLog, 'noteEnded'>
  readonly vendors: Pick<Usage['vendors'], 'noteBroken'>
  readonly metrics: Metrics
  readonly logger: GatewayLogger
  /** Null if tracing is off. */
  readonly tracer: Tracer | null
}

/**
 * Creates a reporter that records a call without an exchange in the metrics, the access log and the trace. `report-exchange.ts`
 * does it for the others.
 */
export function createCallReporter(options: CallReporterOptions) {
  const { metrics, logger, tracer, vendors, deployments, requestLog } = options
  return ({ route, request, durationMs, error }: EndedCall): void => {
    const { caller, requestId, record } = request
    const { accountId, keyId, environment, labels, isZeroRetention } = caller
    const isAborted = record.outcome === 'disconnected'
    const answer = error === null ? null : toErrorAnswer(error, requestId)
    const status = isAborted ? CLIENT_CLOSED_REQUEST : (answer?.status ?? 200)
    const errorCode = answer?.body.error.code
    requestLog.noteEnded({
      requestId,
      accountId,
      keyId,
      environment,
      route,
      record,
      status,
      errorCode: errorCode ?? null,
      errorMessage: isZeroRetention === true ? null : (answer?.body.error.message ?? null),
      durationMs,
      labels,
    })
    const inference = describeInference(record)
    measureDeployment(deployments, record, durationMs)
    const broken = findBrokenStream(record)
    if (broken !== null) vendors.noteBroken(broken)
    const traceId =
      tracer === null
        ? null
        : traceInference(tracer, {
            record,
            requestId,
            accountId,
            durationMs,
            status,
            errorCode: errorCode ?? null,
          })
    metrics.requestStarted(route)
    metrics.requestFinished({ route, status, durationMs, ...inference, traceId })
    if (route === TASK_ROUTE)
      metrics.tasks.worked({ type: record.operation, outcome: record.outcome, durationMs })
    const { usage: tokens, model, provider, firstTokenMs } = inference
    logger.logAccess({
      requestId,
      route,
      status,
      durationMs,
      accountId,
      keyId,
      model,
      provider,
      firstTokenMs,
      attempts: record.attempts.length,
      tokens,
      requestBytes: request.bytes,
      errorCode,
      isAborted,
      prompt: request.text === '' ? undefined : request.text,
    })
  }
}

export function describeInference(inference: InferenceRecord | null) {
  if (inference === null) return NO_INFERENCE
  const { model, provider, firstTokenMs, usage, costNanoUsd, attempts, operation } = inference
  return {
    model: model ?? undefined,
    // A request that no provider answered is counted for the one that failed last.
    provider: provider ?? attempts.at(-1)?.provider,
    firstTokenMs: firstTokenMs ?? undefined,
    usage: usage === null ? undefined : tokenCounts(usage),
    costUsd: costNanoUsd === null ? undefined : Number(costNanoUsd) / NANO,
    operation: OPERATION_TRAITS[operation].traced,
  }
}

const NANO = 1e9

/** Has the same members as other results, so that property access stays fast. */
const NO_INFERENCE = {
  model: undefined,
  provider: undefined,
  firstTokenMs: undefined,
  usage: undefined,
  costUsd: undefined,
  operation: undefined,
}
