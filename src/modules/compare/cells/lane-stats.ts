import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Queryable } from '../../../storage/database.ts'
import { MEASURES, type Measure, type MeasuredMean, type Run } from '../runs/run.ts'

/** The confidence interval of the mean, or null for too few values. */
export type FindInterval = (
  values: ArrayLike<number>,
  options: { readonly seed: number },
) => { readonly low: number; readonly high: number } | null

/** Computes the percentiles of each lane from its completed cells and stores them. */
export async function refreshLaneStats(queryable: Queryable, runId: string): Promise<void> {
  await queryable.query(REFRESH, [runId])
}

// Without streaming, the first token arrives with the whole answer. Answers of batches have no times.
const OUTPUT_MS = `CASE WHEN latency_ms IS NULL THEN NULL WHEN latency_ms - ttft_ms > latency_ms / 10 THEN latency_ms - ttft_ms ELSE greatest(latency_ms, 1) END`

const REFRESH = `
  WITH cells AS MATERIALIZED (
    SELECT lane_id, latency_ms, ttft_ms, usage, score, scores FROM compare_cells
    WHERE run_id = $1 AND status = 'completed'
  ), measured AS (
    SELECT lane_id, jsonb_build_object(
      'latencyMsP50', round(percentile_cont(0.5) WITHIN GROUP (ORDER BY latency_ms)),
      'latencyMsP95', round(percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_ms)),
      'ttftMsP50', round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ttft_ms)),
      'ttftMsP95', round(percentile_cont(0.95) WITHIN GROUP (ORDER BY ttft_ms)),
      'outputTokensPerSecond', round((percentile_cont(0.5) WITHIN GROUP (
        ORDER BY (usage ->> 'completionTokens')::numeric * 1000 / ${OUTPUT_MS}))::numeric, 2),
      'score', round(avg(score)::numeric, 4),
      'scored', count(score)
    ) AS stats
    FROM cells GROUP BY lane_id
  ), named AS (
    SELECT lane_id, name, round(avg((told ->> 'score')::numeric), 4) AS mean, count(told ->> 'score') AS scored
    FROM cells, jsonb_each(scores) AS one (name, told) GROUP BY lane_id, name
  ), scored AS (
    SELECT lane_id, jsonb_object_agg(name, jsonb_build_object('mean', mean, 'scored', scored)) AS scores
    FROM named GROUP BY lane_id
  )
  UPDATE compare_lanes AS lane SET stats = measured.stats || jsonb_build_object('scores', scored.scores)
  FROM measured LEFT JOIN scored USING (lane_id) WHERE lane.id = measured.lane_id`

/** Computes the confidence intervals of each lane and stores them. Done once per run, because it is expensive. */
export async function measureLanes(
  queryable: Queryable,
  { id, lanes, seed }: Pick<Run, 'id' | 'lanes' | 'seed'>,
  findInterval: FindInterval,
): Promise<void> {
  for (const lane of lanes) {
    const [values] = await queryable.query<Record<Measure, number[] | null>>(READ_VALUES, [id, lane.position])
    const intervals: [Measure, MeasuredMean | null][] = []
    for (const measure of MEASURES) {
      intervals.push([measure, measureMean(values?.[measure] ?? [], { seed, findInterval })])
      // Yield to the event loop between lanes.
      await nextTurn()
    }
    const stats = { intervals: Object.fromEntries(intervals) }
    await queryable.query('UPDATE compare_lanes SET stats = stats || $2 WHERE id = $1', [
      lane.id,
      JSON.stringify(stats),
    ])
  }
}

function measureMean(
  values: readonly number[],
  { seed, findInterval }: { seed: number; findInterval: FindInterval },
): MeasuredMean | null {
  const interval = findInterval(values, { seed })
  if (interval === null) return null
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return { mean: round(mean), low: round(interval.low), high: round(interval.high) }
}

/** Finer than any measured value, including the dollars of a cell. */
function round(value: number): number {
  return Number(value.toPrecision(6))
}

const READ_VALUES = `
  SELECT array_agg(latency_ms) FILTER (WHERE latency_ms IS NOT NULL) AS "latencyMs", array_agg(ttft_ms) FILTER (WHERE ttft_ms IS NOT NULL) AS "ttftMs",
    array_agg((usage ->> 'completionTokens')::float8 * 1000 / ${OUTPUT_MS}) FILTER (WHERE usage IS NOT NULL AND latency_ms IS NOT NULL)
      AS "outputTokensPerSecond",
    array_agg(cost_nano_usd / 1e9::float8) AS "costUsd", array_agg(score::float8) FILTER (WHERE score IS NOT NULL) AS score
  FROM compare_cells WHERE run_id = $1 AND lane_position = $2 AND status = 'completed'`
