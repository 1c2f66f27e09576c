import type { BodyStorageRules } from '../../http/routes/account/body-storage.ts'
import type { Clock } from '../../kernel/clock.ts'
import { carryArchives, carryUsage, type Ledger } from '../../modules/ledger/ledger.ts'
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
import { createReceipts, keepReceipts, type Receipts } from '../../modules/receipts/receipts.ts'
import type { Database } from '../../storage/database.ts'
import { keepOnlineIndexes, type OnlineIndexes } from '../../storage/online-indexes.ts'
import { openArchiveStore } from '../../storage/archive/archive-store.ts'
import { ARCHIVED_USAGE } from '../../storage/archive/archived-tables.ts'
import { keepArchives } from '../../storage/archive/keep-archives.ts'
import { mayDrop, noteDropped } from '../../storage/archive/may-drop.ts'
import type { Installation } from '../../storage/installation.ts'
import type { MediaStore } from '../../storage/media-store/media-store.ts'
import { keepPartitions, type Retention } from '../../storage/partitions/keep-partitions.ts'
import type { ReplicaReads } from '../../storage/replica/replica-reads.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Config } from '../settings/config.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import { archivePlaceOf } from './archive-place.ts'
import { monthsBefore } from './months-before.ts'

export interface BuiltUsage {
  readonly usage: Usage
  readonly deprecations: Deprecations
  readonly requestLog: RequestLog
  readonly storedBodies: StoredBodies
  readonly receipts: Receipts
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
  readonly installation: Installation
  readonly reads: ReplicaReads
}

/** Builds what records requests. Adds what must be closed to `opened`. */
export async function buildUsage(
  config: Config,
  parts: Parts,
  opened: AsyncDisposableStack,
): Promise<BuiltUsage> {
  const { catalog, database, messageBus, clock, ledger, metrics, logger, sealer, reads } = parts
  const onDropped = (reason: string, count: number): void => metrics.requestLog.dropped(reason, count)
  const usage = createUsage({
    database,
    reads,
    clock,
    ledger,
    logger,
    errorRetentionDays: config.failedRequestRetentionDays,
  })
  opened.defer(() => usage.close())
  const onlineIndexes = buildPartitions(config, parts, opened)
  const requestLog = createRequestLog({
    database,
    usage,
    reads,
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
  const receipts = buildReceipts(config, parts, opened)
  return { usage, deprecations, requestLog, storedBodies, exportCounts, receipts }
}

function buildReceipts(
  { receipts: isMaking, usageRetentionMonths }: Config,
  { database, clock, logger, sealer, installation }: Parts,
  opened: AsyncDisposableStack,
): Receipts {
  // A restored copy must not sign beside the original.
  if (isMaking && !installation.isPaused) {
    const stop = keepReceipts({
      database,
      clock,
      logger,
      sealer,
      keptSinceMs: (nowMs) => monthsBefore(nowMs, usageRetentionMonths),
    })
    opened.defer(stop)
  }
  return createReceipts({ database })
}

/** Builds what looks after large tables: their indexes, partitions and archives. */
function buildPartitions(
  config: Config,
  { database, connectionString, metrics, logger, installation }: Parts,
  opened: AsyncDisposableStack,
): OnlineIndexes {
  const onlineIndexes = keepOnlineIndexes({ database, connectionString, logger })
  opened.defer(() => onlineIndexes.close())
  const archiveStore = config.archive ? openArchiveStore(archivePlaceOf(config)) : null
  opened.defer(() => archiveStore?.close())
  const partitions = keepPartitions({
    database,
    connectionString,
    logger,
    retentions: retentionsOf(config, archiveStore),
    areIndexesReady: () => onlineIndexes.areReady(),
    onCounted: (table, missing) => metrics.partitions.seen(table, missing),
  })
  opened.defer(() => partitions.close())
  // The bucket of a restored copy is that of the original.
  if (config.archive && !installation.isPaused) {
    const archives = keepArchives({
      database,
      connectionString,
      place: archivePlaceOf(config),
      logger,
      onCounted: (table, months) => metrics.partitions.unarchived(table, months),
    })
    opened.defer(() => archives.close())
  }
  return onlineIndexes
}

/** How long the rows of tables with partitions are kept. Without a store of archives they are dropped whether they are archived or not. */
function retentionsOf(
  { usageRetentionMonths, failedRequestRetentionDays }: Config,
  archiveStore: MediaStore | null,
): Retention[] {
  return [
    {
      table: 'usage_records',
      keptSince: (nowMs) => monthsBefore(nowMs, usageRetentionMonths),
      lateMs: 2 * DAY_MS,
      mayDrop: async (transaction, partition) => {
        if (archiveStore !== null)
          return mayDrop({ transaction, store: archiveStore }, ARCHIVED_USAGE, partition)
        await carryArchives(transaction, await noteDropped(transaction, ARCHIVED_USAGE, partition))
        return true
      },
      keepSums: (partition) => carryUsage(partition, { isArchived: archiveStore !== null }),
    },
    { table: 'failed_requests', keptSince: (nowMs) => nowMs - failedRequestRetentionDays * DAY_MS },
  ]
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
