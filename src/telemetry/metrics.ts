import { AggregatorRegistry, Registry } from 'prom-client'
import { createAgentMetrics, type AgentMetrics } from './agent-metrics.ts'
import { createDrainMetrics, type DrainMetrics } from './drain-metrics.ts'
import { createLedgerMetrics, type LedgerMetrics } from './ledger-metrics.ts'
import { createLimitMetrics, type LimitMetrics } from './limit-metrics.ts'
import { createMediaMetrics, type MediaMetrics } from './media-metrics.ts'
import { registerBuildInfo } from './build-info.ts'
import { formatOpenMetrics, OPEN_METRICS_TYPE, type MetricsSnapshot } from './open-metrics.ts'
import { collectProcessMetrics } from './process-metrics.ts'
import { RecentFailures } from './recent-failures.ts'
import { createExportMetrics, type ExportMetrics } from './export-metrics.ts'
import { createPartitionMetrics, type PartitionMetrics } from './partition-metrics.ts'
import { createRequestLogMetrics, type RequestLogMetrics } from './request-log-metrics.ts'
import { readFigures, type ProcessFigures } from './process-figures.ts'
import { createFamilies } from './request-families.ts'
import { createRequestSeries, labelModel, recordRequest, type FinishedRequest } from './request-series.ts'
import { createStallMetrics, type StallMetrics } from './stall-metrics.ts'
import { createStateMetrics, type StateMetrics } from './state-metrics.ts'
import { createTaskMetrics, type TaskMetrics } from './task-metrics.ts'

export { DURATION_SECONDS } from './request-families.ts'
export type { MetricsSnapshot } from './open-metrics.ts'
export type { FinishedRequest } from './request-series.ts'

/** The metrics of the gateway. Recording needs no locks, no I/O and far less than a microsecond. */
export interface Metrics {
  /** Must be followed by one `requestFinished` of the same route. */
  requestStarted(route: string): void
  requestFinished(request: FinishedRequest): void
  /** Called for a request that was answered 503 without having been started. */
  requestRefused(route: string): void
  /** Called when an account was charged for work that is no request, such as a task. */
  spent(spend: { model: string; provider: string; costUsd: number }): void
  upstreamAttempted(attempt: UpstreamAttempt): void
  /** Called for another attempt at the same upstream. */
  upstreamRetried(provider: string): void
  /** Called for an attempt at another upstream after a failure. */
  upstreamFellBack(change: { from: string; to: string }): void
  /** Called when the client disconnected before its answer was complete. */
  clientDisconnected(request: { route: string; model?: string | undefined }): void
  breakerChanged(change: BreakerChange): void
  readonly agents: AgentMetrics
  readonly drains: DrainMetrics
  readonly ledger: LedgerMetrics
  readonly limits: LimitMetrics
  readonly media: MediaMetrics
  readonly exports: ExportMetrics
  readonly partitions: PartitionMetrics
  readonly recentFailures: RecentFailures
  readonly requestLog: RequestLogMetrics
  readonly stalls: StallMetrics
  /** What is read when somebody asks for the metrics. */
  readonly state: StateMetrics
  readonly tasks: TaskMetrics
  /** Returns the sums of this process that an overview shows. Cheap enough for every second. */
  figures(): ProcessFigures
  /** Returns the metrics of this process in Prometheus's text format, or in that of OpenMetrics, which has exemplars. */
  exposition(format?: 'text' | 'openmetrics'): Promise<Exposition>
  /** Returns the metrics as plain data, for the process that merges several. */
  snapshot(): Promise<MetricsSnapshot>
}

interface UpstreamAttempt {
  readonly provider: string
  /** `ok`, or the kind of failure. */
  readonly outcome: 'ok' | 'aborted' | 'connect' | 'local' | 'timeout' | 'status' | 'invalid_answer' | 'cut'
  /** The upstream's HTTP status, if the failure is one. */
  readonly status?: number
}

type BreakerState = 'closed' | 'half-open' | 'open'

interface BreakerChange {
  readonly provider: string
  readonly model: string
  readonly state: BreakerState
  /** Number of accounts whose own breaker is open. */
  readonly accounts: number
}

export interface Exposition {
  readonly contentType: string
  readonly text: string
}

const SERVICE_UNAVAILABLE = '503'
const BREAKER_VALUES: Record<BreakerState, number> = { closed: 0, 'half-open': 1, open: 2 }

interface MetricsOptions {
  readonly isKnownModel?: (modelId: string) => boolean
  /** Returns the name of a provider in OpenTelemetry's GenAI conventions. */
  readonly traceNameOf?: (provider: string) => string
  readonly version?: string
  readonly registry?: Registry
}

/**
 * Creates the metrics. Models for which `isKnownModel` is false are counted as `unknown`, so that client input does not become a
 * label.
 */
export function createMetrics({
  isKnownModel = () => true,
  traceNameOf = (provider) => provider,
  version = '',
  registry = new Registry(),
}: MetricsOptions = {}): Metrics {
  const families = createFamilies(registry)
  const findRequestSeries = createRequestSeries(families, { isKnownModel, traceNameOf })
  const state = createStateMetrics(registry)
  collectProcessMetrics(registry)
  registerBuildInfo(registry, version)

  return {
    requestStarted: (route) => {
      families.inFlight.series(route).value += 1
    },
    requestFinished: (request) => recordRequest(findRequestSeries(request), request),
    requestRefused: (route) => {
      families.requests.series(route, '', '', SERVICE_UNAVAILABLE).value += 1
    },
    spent: ({ model, provider, costUsd }) => {
      families.spend.series(labelModel(model, isKnownModel), provider).value += costUsd
    },
    upstreamAttempted: ({ provider, outcome, status }) => {
      families.attempts.series(provider, outcome).value += 1
      if (outcome === 'ok' || outcome === 'aborted') return
      families.upstreamErrors.series(provider, outcome, status === undefined ? '' : String(status)).value += 1
    },
    upstreamRetried: (provider) => {
      families.retries.series(provider).value += 1
    },
    upstreamFellBack: ({ from, to }) => {
      families.fallbacks.series(from, to).value += 1
    },
    clientDisconnected: ({ route, model }) => {
      families.disconnects.series(route, labelModel(model, isKnownModel)).value += 1
    },
    breakerChanged: ({ provider, model, state, accounts }) => {
      families.breakers.series(provider, model).value = BREAKER_VALUES[state]
      families.breakerAccounts.series(provider, model).value = accounts
    },
    agents: createAgentMetrics(registry),
    drains: createDrainMetrics(registry),
    exports: createExportMetrics(registry),
    media: createMediaMetrics(registry),
    recentFailures: new RecentFailures(),
    partitions: createPartitionMetrics(registry),
    requestLog: createRequestLogMetrics(registry),
    ledger: createLedgerMetrics(registry),
    limits: createLimitMetrics(registry),
    stalls: createStallMetrics(registry),
    state,
    tasks: createTaskMetrics(registry),
    figures: () => readFigures(families),
    exposition: async (format) => {
      await state.refresh()
      if (format === 'openmetrics')
        return { contentType: OPEN_METRICS_TYPE, text: formatOpenMetrics(await registry.getMetricsAsJSON()) }
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
    snapshot: async () => {
      await state.refresh()
      return registry.getMetricsAsJSON()
    },
  }
}

/** Merges the snapshots of several processes: counts are summed; for states and lags the worst value counts. */
export async function mergeSnapshots(snapshots: readonly MetricsSnapshot[]): Promise<Exposition> {
  // Values that are not finite are lost in messages between processes and would make the text invalid.
  const readable = snapshots.map((snapshot) =>
    snapshot.map((metric) => ({
      ...metric,
      values: metric.values.filter(({ value }) => Number.isFinite(value)),
    })),
  )
  const merged = AggregatorRegistry.aggregate(readable)
  return { contentType: merged.contentType, text: await merged.metrics() }
}
