import type { Logger } from '../../kernel/logger.ts'
import { usdFromNanoUsd } from '../../kernel/money.ts'
import type { UncoveredCost } from '../../modules/ledger/ledger.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

/** Reports to the operator the part of an answer's cost that its account could not cover. */
export function reportUncovered({ metrics, logger }: { metrics: Metrics; logger: Logger }) {
  return ({ requestId, accountId, model, uncoveredNanoUsd, owedNanoUsd }: UncoveredCost): void => {
    const uncoveredUsd = usdFromNanoUsd(uncoveredNanoUsd)
    metrics.ledger.uncovered(uncoveredUsd)
    logger.error(
      { requestId, accountId, model, uncoveredUsd, owedUsd: usdFromNanoUsd(owedNanoUsd) },
      'an answer cost more than was held and than its account had: raise what the catalog says of the model',
    )
  }
}
