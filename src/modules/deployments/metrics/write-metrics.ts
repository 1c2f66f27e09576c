import type { GpuSample } from '../../../gpu/gpu-driver.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { EngineReadings } from './read-engine.ts'

/** What one process measured for a deployment since its last write. */
export interface MeasuredStep {
  readonly deploymentId: string
  readonly requests: number
  readonly errors: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly inFlightMs: number
  readonly queueMs: number
  readonly latency: readonly number[]
  readonly firstToken: readonly number[]
}

/** What engines and GPUs reported, by deployment. */
interface Readings {
  readonly engines: ReadonlyMap<string, EngineReadings>
  readonly gpus: ReadonlyMap<string, GpuSample>
}

const HOUR_MS = 3_600_000

/** Each figure is added to a short and to a long step, so that no later job has to aggregate steps. */
export const METRIC_STEPS = {
  short: { seconds: 15, keptMs: 2 * HOUR_MS },
  long: { seconds: 900, keptMs: 8 * 24 * HOUR_MS },
} as const

/** Writes all deployments in one statement, and adds to what other processes wrote for the same steps. */
export async function writeMetrics(
  queryable: Queryable,
  steps: readonly MeasuredStep[],
  { engines, gpus }: Readings,
  nowMs: number,
): Promise<void> {
  const { short, long } = METRIC_STEPS
  const rows = steps.map((step) => {
    const { deploymentId, tokensIn, tokensOut, inFlightMs, queueMs, firstToken, ...same } = step
    const engine = engines.get(deploymentId)
    const gpu = gpus.get(deploymentId)
    return {
      ...same,
      deployment_id: deploymentId,
      tokens_in: tokensIn,
      tokens_out: tokensOut,
      in_flight_ms: inFlightMs,
      queue_ms: queueMs,
      first_token: firstToken,
      engine_running: engine?.running ?? null,
      engine_waiting: engine?.waiting ?? null,
      engine_cache_usage: engine?.cacheUsage ?? null,
      gpu_utilization: gpu?.utilization ?? null,
      gpu_memory_used_gb: gpu?.memoryUsedGb ?? null,
    }
  })
  await queryable.query(WRITE, [
    JSON.stringify(rows),
    [short.seconds, long.seconds],
    [startOfStep(nowMs, short.seconds), startOfStep(nowMs, long.seconds)],
  ])
}

function startOfStep(atMs: number, seconds: number): Date {
  return new Date(Math.floor(atMs / (seconds * 1000)) * seconds * 1000)
}

// Sorted, so that two processes cannot deadlock. The join skips deployments that were removed meanwhile.
const WRITE = `
  INSERT INTO deployment_metrics AS kept (deployment_id, step_seconds, at, requests, errors, tokens_in, tokens_out, in_flight_ms,
    queue_ms, latency, first_token, engine_running, engine_waiting, engine_cache_usage, gpu_utilization, gpu_memory_used_gb)
  SELECT deployment_id, step_seconds, at, requests, errors, tokens_in, tokens_out, in_flight_ms,
    queue_ms, latency, first_token, engine_running, engine_waiting, engine_cache_usage, gpu_utilization, gpu_memory_used_gb
  FROM jsonb_to_recordset($1::jsonb) AS measured (deployment_id uuid, requests int, errors int, tokens_in bigint, tokens_out bigint,
    in_flight_ms bigint, queue_ms bigint, latency int[], first_token int[], engine_running real, engine_waiting real,
    engine_cache_usage real, gpu_utilization real, gpu_memory_used_gb real)
  JOIN deployments ON deployments.id = deployment_id
  CROSS JOIN unnest($2::int[], $3::timestamptz[]) AS step (step_seconds, at)
  ORDER BY deployment_id, step_seconds
  ON CONFLICT (deployment_id, step_seconds, at) DO UPDATE SET
    requests = kept.requests + excluded.requests,
    errors = kept.errors + excluded.errors,
    tokens_in = kept.tokens_in + excluded.tokens_in,
    tokens_out = kept.tokens_out + excluded.tokens_out,
    in_flight_ms = kept.in_flight_ms + excluded.in_flight_ms,
    queue_ms = kept.queue_ms + excluded.queue_ms,
    latency = add_counts(kept.latency, excluded.latency),
    first_token = add_counts(kept.first_token, excluded.first_token),
    engine_running = coalesce(excluded.engine_running, kept.engine_running),
    engine_waiting = coalesce(excluded.engine_waiting, kept.engine_waiting),
    engine_cache_usage = coalesce(excluded.engine_cache_usage, kept.engine_cache_usage),
    gpu_utilization = coalesce(excluded.gpu_utilization, kept.gpu_utilization),
    gpu_memory_used_gb = coalesce(excluded.gpu_memory_used_gb, kept.gpu_memory_used_gb)`

/** Deletes steps that are older than their retention time. */
export async function sweepMetrics(queryable: Queryable, nowMs: number): Promise<void> {
  for (const { seconds, keptMs } of Object.values(METRIC_STEPS))
    await queryable.query('DELETE FROM deployment_metrics WHERE step_seconds = $1 AND at < $2', [
      seconds,
      new Date(nowMs - keptMs),
    ])
}
