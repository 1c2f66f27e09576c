import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../kernel/logger.ts'
import { usdFromNanoUsd } from '../../kernel/money.ts'
import type { Ledger, UncoveredCost } from '../../modules/ledger/ledger.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

interface ReportParts {
  readonly metrics: Metrics
  readonly logger: Logger
  readonly ledger: Pick<Ledger, 'owe'>
}

const ATTEMPTS_MAX = 5
const PAUSE_MS = 200

/** Reports to the operator the part of an answer's cost that its account could not cover, and notes what the account owes. */
export function reportUncovered({ metrics, logger, ledger }: ReportParts) {
  const owe = async ({ requestId, accountId, uncoveredNanoUsd }: UncoveredCost): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await ledger.owe({ requestId, accountId, amountNanoUsd: uncoveredNanoUsd })
      } catch (error) {
        if (attempt === ATTEMPTS_MAX) throw error
        await delay(PAUSE_MS * 2 ** attempt, undefined, { ref: false })
      }
    }
  }
  return (cost: UncoveredCost): void => {
    const { requestId, accountId, model, uncoveredNanoUsd, isOwed } = cost
    const uncoveredUsd = usdFromNanoUsd(uncoveredNanoUsd)
    metrics.ledger.uncovered(uncoveredUsd)
    logger.error(
      { requestId, accountId, model, uncoveredUsd, isOwed },
      'an answer cost more than was held and than its account had: raise what the catalog says of the model',
    )
    if (isOwed)
      owe(cost).catch((error: unknown) =>
        logger.error(
          { err: error, requestId, accountId, uncoveredUsd },
          'what an account owes was not noted',
        ),
      )
  }
}
