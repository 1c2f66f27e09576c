import type { Clock } from '../../kernel/clock.ts'
import type { Ledger } from '../../modules/ledger/ledger.ts'
import { createRequestLog, type RequestLog } from '../../modules/request-log/request-log.ts'
import { createUsage, type Usage } from '../../modules/usage/usage.ts'
import type { Database } from '../../storage/database.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Config } from '../settings/config.ts'

export interface BuiltUsage {
  readonly usage: Usage
  readonly requestLog: RequestLog
}

interface Parts {
  readonly database: Database
  readonly clock: Clock
  readonly ledger: Ledger
  readonly metrics: Metrics
  readonly logger: GatewayLogger
}

export function buildUsage(
  config: Pick<Config, 'failedRequestRetentionDays'>,
  { database, clock, ledger, metrics, logger }: Parts,
): BuiltUsage {
  const usage = createUsage({ database, clock, ledger, logger })
  const requestLog = createRequestLog({
    database,
    usage,
    logger,
    retentionDays: config.failedRequestRetentionDays,
    onDropped: (reason, count) => metrics.requestLog.dropped(reason, count),
  })
  return { usage, requestLog }
}
