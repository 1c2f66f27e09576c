import type { BodyStorageRules } from '../../http/routes/account/body-storage.ts'
import type { Clock } from '../../kernel/clock.ts'
import { carryUsage, type Ledger } from '../../modules/ledger/ledger.ts'
import { createExportCounts, type ExportCounts } from '../../modules/agent-telemetry/agent-telemetry.ts'
import {
  createRequestLog,
  openStoredBodies,
  type RequestLog,
  type StoredBodies,
} from '../../modules/request-log/request-log.ts'
import type { Catalog } from '../../modules/catalog/catalog.ts'
import { createDeprecations, type Deprecations } from '../../modules/deprecations/deprecations.ts'
import { createUsage, DAY_MS, type Usage } from '../../modules/usage/usage.ts'
import type { Database } from '../../storage/database.ts'
import { keepOnlineIndexes } from '../../storage/online-indexes.ts'
import { keepPartitions, type Retention } from '../../storage/partitions/keep-partitions.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Config } from '../settings/config.ts'
import type { Sealer } from '../../kernel/seal-text.ts'

export interface BuiltUsage {
  readonly usage: Usage
  readonly deprecations: Deprecations
  readonly requestLog: RequestLog
  readonly storedBodies: StoredBodies
  /** Of agents. */
  readonly exportCounts: ExportCounts
}

interface Parts {
  readonly catalog: Catalog
  readonly database: Database
  readonly connectionString: string
  readonly messageBus: MessageBus
  readonly clock: Clock
  readonly ledger: Ledger
  readonly metrics: Metrics
  readonly logger: GatewayLogger
  readonly sealer: Sealer
}

/** Builds what records requests. Adds what must be closed to `opened`. */
export async function buildUsage(
  config: Config,
  { catalog, database, connectionString, messageBus, clock, ledger, metrics, logger, sealer }: Parts,
  opened: AsyncDisposableStack,
): Promise<BuiltUsage> {
  const onDropped = (reason: string, count: number): void => metrics.requestLog.dropped(reason, count)
  const usage = createUsage({ database, clock, ledger, logger })
  opened.defer(() => usage.close())
  const onlineIndexes = keepOnlineIndexes({ database, connectionString, logger })
  opened.defer(() => onlineIndexes.close())
  const partitions = keepPartitions({
    database,
    connectionString,
    logger,
    retentions: retentionsOf(config),
    areIndexesReady: () => onlineIndexes.areReady(),
    onCounted: (table, missing) => metrics.partitions.seen(table, missing),
  })
  opened.defer(() => partitions.close())
  const requestLog = createRequestLog({
    database,
    usage,
    onlineIndexes,
    logger,
    retentionDays: config.failedRequestRetentionDays,
    onDropped,
  })
  opened.defer(() => requestLog.close())
  const storedBodies = await openStoredBodies({
    database,
    messageBus,
    logger,
    sealer,
    ...bodyStorageRules(config),
    onDropped,
  })
  opened.defer(() => storedBodies.close())
  const exportCounts = createExportCounts({ database, clock })
  opened.defer(() => exportCounts.close())
  const deprecations = createDeprecations({ catalog, usage, clock })
  return { usage, deprecations, requestLog, storedBodies, exportCounts }
}

/** How long the rows of tables with partitions are kept. */
function retentionsOf({ usageRetentionMonths, failedRequestRetentionDays }: Config): Retention[] {
  return [
    {
      table: 'usage_records',
      keptSince: (nowMs) => monthsBefore(nowMs, usageRetentionMonths),
      lateMs: 2 * DAY_MS,
      keepSums: carryUsage,
    },
    { table: 'failed_requests', keptSince: (nowMs) => nowMs - failedRequestRetentionDays * DAY_MS },
  ]
}

/** The start of the month that is this many months before the present one, in UTC. */
function monthsBefore(nowMs: number, months: number): number {
  const now = new Date(nowMs)
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months)
}

/** The operator's rules for stored bodies. */
export function bodyStorageRules(config: Config): BodyStorageRules {
  return {
    who: config.bodyStorage,
    retentionDaysMax: config.bodyRetentionDaysMax,
    bodyBytesMax: config.bodyKibMax * 1024,
    accountBytesMax: config.bodyAccountMibMax * 1024 * 1024,
  }
}
