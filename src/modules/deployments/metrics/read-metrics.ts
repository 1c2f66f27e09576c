import { invalidValue } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import { addCounts, percentileOf, type DurationCounts } from './duration-counts.ts'
import { METRIC_STEPS } from './write-metrics.ts'

export const METRIC_WINDOWS = ['5m', '1h', '24h', '7d'] as const
type MetricWindow = (typeof METRIC_WINDOWS)[number]

export interface MetricRange {
  readonly window: MetricWindow
  /** The length of a point of the series; null for the window's default. */
  readonly stepSeconds: number | null
}

export interface Percentiles {
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

interface Figures {
  readonly requests: number
  readonly errors: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly latencyMs: Percentiles
  readonly firstTokenMs: Percentiles
}

export interface MetricPoint extends Figures {
  readonly atMs: number
  /** `inFlight` and `queued` are averages over the step. */
  readonly inFlight: number
  readonly queued: number
  /** The last readings of the step; null if the engine reported none. */
  readonly engineRunning: number | null
  readonly engineWaiting: number | null
  readonly engineCacheUsage: number | null
  /** The last samples of the step; null if the driver has none. */
  readonly gpuUtilization: number | null
  readonly gpuMemoryUsedGb: number | null
}

export interface MetricSeries extends Figures {
  readonly window: MetricWindow
  readonly stepSeconds: number
  readonly tokensPerSecond: number
  readonly requestsPerMinute: number
  /** Average wait of a request for a slot; null without requests. */
  readonly queueWaitMs: number | null
  /** Oldest first, without gaps. */
  readonly points: readonly MetricPoint[]
}

const { short, long } = METRIC_STEPS
const WINDOWS = {
  '5m': { seconds: 300, stored: short, stepSeconds: 15 },
  '1h': { seconds: 3_600, stored: short, stepSeconds: 60 },
  '24h': { seconds: 86_400, stored: long, stepSeconds: 900 },
  '7d': { seconds: 604_800, stored: long, stepSeconds: 7_200 },
} as const
const POINTS_MAX = 300

interface MetricRow {
  readonly at: Date
  readonly requests: number
  readonly errors: number
  readonly tokens_in: bigint
  readonly tokens_out: bigint
  readonly in_flight_ms: bigint
  readonly queue_ms: bigint
  readonly latency: number[]
  readonly first_token: number[]
  readonly engine_running: number | null
  readonly engine_waiting: number | null
  readonly engine_cache_usage: number | null
  readonly gpu_utilization: number | null
  readonly gpu_memory_used_gb: number | null
}

// Not `*`: a prepared statement fails if a newer release adds a column to its result.
const COLUMNS = `at, requests, errors, tokens_in, tokens_out, in_flight_ms, queue_ms, latency, first_token,
  engine_running, engine_waiting, engine_cache_usage, gpu_utilization, gpu_memory_used_gb`

/** Reads the metrics of a deployment. The caller must have checked that the account owns it. */
export async function readMetrics(
  queryable: Queryable,
  { id, createdAtMs }: { readonly id: string; readonly createdAtMs: number },
  range: MetricRange,
  nowMs: number,
): Promise<MetricSeries> {
  const { seconds, stored } = WINDOWS[range.window]
  const stepSeconds = chooseStep(range)
  const stepMs = stepSeconds * 1000
  // The current step is the last one, and is not complete. The window starts at the beginning of a step.
  const endMs = (Math.floor(nowMs / stepMs) + 1) * stepMs
  const startMs = endMs - seconds * 1000
  const rows = await queryable.query<MetricRow>(
    `SELECT ${COLUMNS} FROM deployment_metrics
     WHERE deployment_id = $1 AND step_seconds = $2 AND at >= $3 AND at < $4 ORDER BY at`,
    [id, stored.seconds, new Date(startMs), new Date(endMs)],
  )
  const byStep = Map.groupBy(rows, ({ at }) => Math.floor(at.getTime() / stepMs) * stepMs)
  const points = Array.from({ length: seconds / stepSeconds }, (_, index) => startMs + index * stepMs).map(
    (atMs) => toPoint(atMs, byStep.get(atMs) ?? [], Math.min(stepMs, Math.max(1_000, nowMs - atMs))),
  )
  const figures = sumUp(rows)
  // Rates of a deployment that is younger than the window are computed over its age.
  const livedSeconds = Math.max(1, Math.min(nowMs - startMs, nowMs - createdAtMs) / 1000)
  const queueMs = rows.reduce((sum, { queue_ms: ms }) => sum + Number(ms), 0)
  return {
    ...figures,
    window: range.window,
    stepSeconds,
    tokensPerSecond: round(figures.tokensOut / livedSeconds),
    requestsPerMinute: round((figures.requests * 60) / livedSeconds),
    queueWaitMs: figures.requests === 0 ? null : round(queueMs / figures.requests),
    points,
  }
}

/** Throws if the step does not divide the window, is no multiple of the stored step, or gives too many points. */
function chooseStep({ window, stepSeconds }: MetricRange): number {
  const { seconds, stored, stepSeconds: usual } = WINDOWS[window]
  if (stepSeconds === null) return usual
  const isWhole = stepSeconds % stored.seconds === 0 && seconds % stepSeconds === 0
  if (isWhole && seconds / stepSeconds <= POINTS_MAX) return stepSeconds
  throw invalidValue(
    'step',
    `step must divide the window, be a multiple of ${stored.seconds} and make at most ${POINTS_MAX} points.`,
  )
}

function sumUp(rows: readonly MetricRow[]): Figures {
  const latency: DurationCounts = []
  const firstToken: DurationCounts = []
  let [requests, errors, tokensIn, tokensOut] = [0, 0, 0, 0]
  for (const row of rows) {
    requests += row.requests
    errors += row.errors
    tokensIn += Number(row.tokens_in)
    tokensOut += Number(row.tokens_out)
    addCounts(latency, row.latency)
    addCounts(firstToken, row.first_token)
  }
  const [latencyMs, firstTokenMs] = [percentilesOf(latency), percentilesOf(firstToken)]
  return { requests, errors, tokensIn, tokensOut, latencyMs, firstTokenMs }
}

function toPoint(atMs: number, rows: readonly MetricRow[], durationMs: number): MetricPoint {
  const last = (read: (row: MetricRow) => number | null) =>
    rows.map(read).findLast((value) => value !== null) ?? null
  const average = (read: (row: MetricRow) => bigint) =>
    round(rows.reduce((sum, row) => sum + Number(read(row)), 0) / durationMs)
  return {
    atMs,
    ...sumUp(rows),
    inFlight: average((row) => row.in_flight_ms),
    queued: average((row) => row.queue_ms),
    engineRunning: last((row) => row.engine_running),
    engineWaiting: last((row) => row.engine_waiting),
    engineCacheUsage: last((row) => row.engine_cache_usage),
    gpuUtilization: last((row) => row.gpu_utilization),
    gpuMemoryUsedGb: last((row) => row.gpu_memory_used_gb),
  }
}

function percentilesOf(counts: readonly number[]): Percentiles {
  return { p50: percentileOf(counts, 0.5), p95: percentileOf(counts, 0.95), p99: percentileOf(counts, 0.99) }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
