import { randomUUID } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import type { Ledger } from '../../modules/ledger/ledger.ts'
import type { Limits } from '../../modules/limits/limits.ts'
import type { PoolState } from '../../storage/connection/connect-database.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Config } from '../settings/config.ts'
import type { ProcessReport } from './process-report.ts'
import type { createRecentProviders } from './recent-providers.ts'

interface ReportSources {
  readonly config: Pick<Config, 'role' | 'dataDir' | 'workerConcurrency'>
  readonly metrics: Pick<Metrics, 'figures' | 'recentFailures'>
  readonly recent: ReturnType<typeof createRecentProviders>
  readonly limits: Pick<Limits, 'providerKeys'>
  readonly readPool: () => PoolState
  readonly ledger: Pick<Ledger, 'isHealthy'>
  readonly isWorkerRunning: () => boolean
}

/** Returns a function that describes this process as it is now. */
export function createReporter(sources: ReportSources): () => Promise<ProcessReport> {
  const { config, metrics, recent, limits, readPool, ledger, isWorkerRunning } = sources
  const id = randomUUID()
  let before = performance.eventLoopUtilization()
  return async () => {
    const { byProvider: _, ...figures } = metrics.figures()
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return {
      id,
      role: config.role,
      atMs: performance.now(),
      ...figures,
      breakers: [...figures.breakers],
      durations: [...figures.durations],
      providers: recent.list(),
      failures: metrics.recentFailures.list(),
      keys: [...limits.providerKeys.listRecent()],
      pool: readPool(),
      isLedgerHealthy: ledger.isHealthy(),
      worker:
        config.role === 'api' ? null : { isRunning: isWorkerRunning(), slots: config.workerConcurrency },
      busyShare: Number.isFinite(utilization) ? utilization : 0,
      disk: await readDisk(config.dataDir),
    }
  }
}

/** Returns null if the directory is not there, as with a database elsewhere and files in a bucket. */
async function readDisk(directory: string): Promise<ProcessReport['disk']> {
  const found = await statfs(directory).catch(() => null)
  if (found === null) return null
  return { freeBytes: found.bavail * found.bsize, totalBytes: found.blocks * found.bsize }
}
