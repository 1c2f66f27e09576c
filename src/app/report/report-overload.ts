import type { LoadGateObserver } from '../../http/overload/load-gate.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

/** Tells operators of an overload. Its refusals are counted but not logged one by one, because that costs more than to refuse. */
export function createOverloadReporter({
  metrics,
  logger,
}: {
  readonly metrics: Pick<Metrics, 'limits' | 'requestRefused'>
  readonly logger: Logger
}): LoadGateObserver {
  return {
    began: () => {
      metrics.limits.overloaded(true)
      logger.warn({}, 'this process has more requests than it can answer, and refuses some')
    },
    ended: (refused) => {
      metrics.limits.overloaded(false)
      logger.warn({ refused }, 'this process can answer all requests again')
    },
    refused: (route) => {
      metrics.limits.refused('overload')
      metrics.requestRefused(route)
    },
  }
}
