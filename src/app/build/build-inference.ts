import {
  createInference,
  isBreakerFailure,
  UpstreamRoom,
  type Inference,
  type InferenceOptions,
} from '../../modules/inference/inference.ts'
import type { Deployments } from '../../modules/deployments/deployments.ts'
import type { Limits } from '../../modules/limits/limits.ts'
import type { RequestLog } from '../../modules/request-log/request-log.ts'
import type { Usage } from '../../modules/usage/usage.ts'
import type { UpstreamTimeouts } from '../../providers/provider.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Tracer } from '../../telemetry/tracing.ts'
import { slotsOf } from './build-limits.ts'
import type { Config } from '../settings/config.ts'
import { endOfAttempt, measureAnswer } from '../report/measure-provider.ts'
import { createTraceForwarding } from '../report/forward-trace.ts'
import { createCallReporter } from '../report/report-call.ts'
import { reportUncovered } from '../report/report-uncovered.ts'
import { roomForConnections } from '../process/connection-room.ts'
import type { ShortageWatch } from '../process/shortage-watch.ts'
import { providerVariableOf } from '../settings/provider-settings.ts'

interface Parts extends Pick<InferenceOptions, 'catalog' | 'providers' | 'mayUseSandbox' | 'clock'> {
  readonly limits: Limits
  readonly requestLog: Pick<RequestLog, 'noteEnded'>
  readonly usage: Pick<Usage, 'noteLatency' | 'vendors'>
  readonly deployments: Pick<Deployments, 'noteRequest'>
  readonly metrics: Metrics
  readonly shortages: ShortageWatch
  readonly logger: GatewayLogger
  readonly tracer: Tracer | null
}

export function buildInference(
  config: Config,
  { limits, requestLog, usage, deployments, metrics, shortages, logger, tracer, ...parts }: Parts,
): Inference {
  const room = new UpstreamRoom({
    requestsMax: roomForConnections(config.connectionsMax),
    onRefused: () => metrics.limits.refused('provider_room'),
  })
  return createInference({
    ...parts,
    limits,
    variableOf: providerVariableOf,
    acquireSlot: (provider, { caller, cancellation, giveWay }) => {
      const slots = slotsOf(config, provider)
      const { accountId } = caller
      // Servers with slots have a fair queue of their own.
      return slots === null
        ? room.enter(provider.id, accountId)
        : limits.acquireSlot({ pool: provider.id, slots, accountId, cancellation, giveWay })
    },
    timeouts: upstreamTimeouts(config),
    forwardTrace: createTraceForwarding(tracer, config.traceReceivers),
    durationMsMax: config.streamDurationMsMax,
    drainLimits: {
      drainMsMax: config.drainMsMax,
      drainBytesMax: config.drainBytesMax,
      drainsMax: config.drainsMax,
      drainsPerAccountMax: config.drainsPerAccountMax,
    },
    observer: {
      drains: metrics.drains,
      callEnded: createCallReporter({
        metrics,
        logger,
        tracer,
        deployments,
        requestLog,
        vendors: usage.vendors,
      }),
      completed: (charged, record) => {
        usage.noteLatency(charged)
        usage.vendors.noteAnswer(measureAnswer(charged, record))
      },
      uncovered: reportUncovered({ metrics, logger }),
      attempted: (attempt, { caller, record }) => {
        const { provider, previousProvider, outcome, status } = attempt
        if (outcome !== 'answered' && outcome !== 'aborted') {
          metrics.recentFailures.note({
            provider,
            upstreamModel: attempt.upstreamModel,
            model: record.model ?? '',
            accountId: caller.accountId,
            failure: outcome,
            status,
            code: attempt.upstreamCode ?? null,
            isBreakerFailure: isBreakerFailure(outcome, status),
          })
        }
        const ended = endOfAttempt(attempt)
        if (ended !== null) usage.vendors.noteAttempt({ provider, model: record.model ?? '', ended })
        metrics.upstreamAttempted({
          provider,
          outcome: outcome === 'answered' ? 'ok' : outcome,
          ...(status === null ? {} : { status }),
        })
        if (previousProvider === provider) metrics.upstreamRetried(provider)
        else if (previousProvider !== null) metrics.upstreamFellBack({ from: previousProvider, to: provider })
      },
      ranShort: (code) => shortages.note(code),
      breakerChanged: (provider, model, change) => metrics.breakerChanged({ provider, model, ...change }),
    },
  })
}

export function upstreamTimeouts(config: Config): UpstreamTimeouts {
  return {
    connectMs: config.upstreamConnectTimeoutMs,
    firstByteMs: config.upstreamFirstByteTimeoutMs,
    idleMs: config.upstreamIdleTimeoutMs,
  }
}
