import { AggregatorRegistry, Registry } from 'prom-client'
import { createAgentMetrics, type AgentMetrics } from './agent-metrics.ts'
import { createDrainMetrics, type DrainMetrics } from './drain-metrics.ts'
import { createLedgerMetrics, type LedgerMetrics } from './ledger-metrics.ts'
import { createLimitMetrics, type LimitMetrics } from './limit-metrics.ts'
import { createMediaMetrics, type MediaMetrics } from './media-metrics.ts'
import {
  createCounterFamily,
  createGaugeFamily,
  createHistogramFamily,
  observe,
  type HistogramSeries,
  type Series,
} from './metric-family.ts'
import { collectProcessMetrics } from './process-metrics.ts'
import { RecentFailures } from './recent-failures.ts'
import { createPartitionMetrics, type PartitionMetrics } from './partition-metrics.ts'
import { createRequestLogMetrics, type RequestLogMetrics } from './request-log-metrics.ts'
import { readFigures, type ProcessFigures } from './process-figures.ts'
import { createStallMetrics, type StallMetrics } from './stall-metrics.ts'
import type { TokenCounts } from './token-counts.ts'

/** The metrics of the gateway. Recording needs no locks, no I/O and far less than a microsecond. */
export interface Metrics {
  /** Must be followed by one `requestFinished` of the same route. */
  requestStarted(route: string): void
  requestFinished(request: FinishedRequest): void
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
  readonly partitions: PartitionMetrics
  readonly recentFailures: RecentFailures
  readonly requestLog: RequestLogMetrics
  readonly stalls: StallMetrics
  /** Returns the sums of this process that an overview shows. Cheap enough for every second. */
  figures(): ProcessFigures
  /** Returns the metrics of this process in Prometheus's text format. */
  exposition(): Promise<Exposition>
  /** Returns the metrics as plain data, for the process that merges several. */
  snapshot(): Promise<MetricsSnapshot>
}

export interface FinishedRequest {
  /** The route pattern with parameters as `:id`, or `unmatched`. Never the client's path. */
  readonly route: string
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly status: number
  readonly durationMs: number
  readonly firstTokenMs?: number | undefined
  readonly usage?: TokenCounts | undefined
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

export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

const BREAKER_VALUES: Record<BreakerState, number> = { closed: 0, 'half-open': 1, open: 2 }

/**
 * Creates the metrics. Models for which `isKnownModel` is false are counted as `unknown`, so that client input does not become a
 * label.
 */
export function createMetrics({
  isKnownModel = () => true,
}: { isKnownModel?: (modelId: string) => boolean } = {}): Metrics {
  const registry = new Registry()
  const families = createFamilies(registry)
  const findRequestSeries = createRequestSeries(families, isKnownModel)
  collectProcessMetrics(registry)

  return {
    requestStarted: (route) => {
      families.inFlight.series(route).value += 1
    },
    requestFinished: (request) => recordRequest(findRequestSeries(request), request),
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
    media: createMediaMetrics(registry),
    recentFailures: new RecentFailures(),
    partitions: createPartitionMetrics(registry),
    requestLog: createRequestLogMetrics(registry),
    ledger: createLedgerMetrics(registry),
    limits: createLimitMetrics(registry),
    stalls: createStallMetrics(registry),
    figures: () => readFigures(families),
    exposition: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
    snapshot: () => registry.getMetricsAsJSON(),
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

// Answers take from a millisecond in the gateway to many minutes for a reasoning model.
export const DURATION_SECONDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
]
const FIRST_TOKEN_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60]

type Families = ReturnType<typeof createFamilies>

function createFamilies(registry: Registry) {
  const counter = (name: string, help: string, labelNames: string[]) =>
    createCounterFamily(registry, { name, help, labelNames })
  return {
    requests: counter('parkway_requests_total', 'Requests answered.', [
      'route',
      'model',
      'provider',
      'status',
    ]),
    duration: createHistogramFamily(registry, {
      name: 'parkway_request_duration_seconds',
      help: 'From the arrival of a request to the last byte of its answer.',
      labelNames: ['route', 'model', 'provider'],
      bounds: DURATION_SECONDS,
    }),
    firstToken: createHistogramFamily(registry, {
      name: 'parkway_time_to_first_token_seconds',
      help: 'From the arrival of a request to the first token of its stream.',
      labelNames: ['model', 'provider'],
      bounds: FIRST_TOKEN_SECONDS,
    }),
    tokens: counter(
      'parkway_tokens_total',
      'Tokens; cached and reasoning are parts of prompt and completion.',
      ['model', 'provider', 'direction'],
    ),
    inFlight: createGaugeFamily(registry, {
      name: 'parkway_requests_in_flight',
      help: 'Requests that have arrived and are not answered yet.',
      labelNames: ['route'],
    }),
    attempts: counter('parkway_upstream_attempts_total', 'Calls of an upstream.', ['provider', 'outcome']),
    upstreamErrors: counter('parkway_upstream_errors_total', 'Calls of an upstream that failed.', [
      'provider',
      'failure',
      'status',
    ]),
    retries: counter('parkway_upstream_retries_total', 'Further attempts at the same upstream.', [
      'provider',
    ]),
    fallbacks: counter('parkway_upstream_fallbacks_total', 'Attempts at another upstream after a failure.', [
      'from',
      'to',
    ]),
    disconnects: counter(
      'parkway_client_disconnects_total',
      'Clients that left before their answer was complete.',
      ['route', 'model'],
    ),
    breakers: createGaugeFamily(registry, {
      name: 'parkway_circuit_breaker_state',
      help: 'Per model of an upstream: 0 closed, 1 half-open, 2 open.',
      labelNames: ['provider', 'model'],
      aggregator: 'max',
    }),
    breakerAccounts: createGaugeFamily(registry, {
      name: 'parkway_circuit_breaker_accounts',
      help: 'Accounts that are kept away from a model of an upstream because only their requests fail there.',
      labelNames: ['provider', 'model'],
      aggregator: 'max',
    }),
  }
}

interface RequestSeries {
  readonly requests: Series
  readonly inFlight: Series
  readonly duration: HistogramSeries
  /** Null for requests without a model. */
  readonly inference: InferenceSeries | null
}

interface InferenceSeries {
  readonly firstToken: HistogramSeries
  readonly prompt: Series
  readonly completion: Series
  readonly cached: Series
  readonly reasoning: Series
}

const REQUEST_KINDS_MAX = 10_000

// Finds all series of a kind of request with one lookup.
function createRequestSeries(families: Families, isKnownModel: (modelId: string) => boolean) {
  const known = new Map<string, RequestSeries>()

  return ({ route, model, provider = '', status }: FinishedRequest): RequestSeries => {
    const found = known.get(`${route}\u0000${model}\u0000${provider}\u0000${status}`)
    if (found) return found
    // Use only labels as keys, so that client input cannot grow the map.
    const label = labelModel(model, isKnownModel)
    const key = `${route}\u0000${label === '' ? undefined : label}\u0000${provider}\u0000${status}`
    const existing = known.get(key)
    if (existing) return existing
    const series = {
      requests: families.requests.series(route, label, provider, String(status)),
      inFlight: families.inFlight.series(route),
      duration: families.duration.series(route, label, provider),
      inference: label === '' ? null : createInferenceSeries(families, label, provider),
    }
    if (known.size < REQUEST_KINDS_MAX) known.set(key, series)
    return series
  }
}

function createInferenceSeries(families: Families, model: string, provider: string): InferenceSeries {
  return {
    firstToken: families.firstToken.series(model, provider),
    prompt: families.tokens.series(model, provider, 'prompt'),
    completion: families.tokens.series(model, provider, 'completion'),
    cached: families.tokens.series(model, provider, 'cached'),
    reasoning: families.tokens.series(model, provider, 'reasoning'),
  }
}

function recordRequest(series: RequestSeries, { durationMs, firstTokenMs, usage }: FinishedRequest): void {
  const { inference } = series
  series.requests.value += 1
  series.inFlight.value -= 1
  observe(series.duration, durationMs / 1e3)
  if (!inference) return
  if (firstTokenMs !== undefined) observe(inference.firstToken, firstTokenMs / 1e3)
  if (!usage) return
  inference.prompt.value += usage.prompt
  inference.completion.value += usage.completion
  inference.cached.value += usage.cached ?? 0
  inference.reasoning.value += usage.reasoning ?? 0
}

function labelModel(model: string | undefined, isKnownModel: (modelId: string) => boolean): string {
  if (model === undefined) return ''
  if (model.startsWith('byom-')) return 'byom'
  return isKnownModel(model) ? model : 'unknown'
}
