import type { Queryable } from '../../storage/database.ts'

/** Works out the percentiles of every lane from its completed cells, and keeps them with the lane. */
export async function refreshLaneStats(queryable: Queryable, runId: string): Promise<void> {
  await queryable.query(REFRESH, [runId])
}

// What comes all at once, because its provider does not stream, took the whole time.
const OUTPUT_MS = `CASE WHEN latency_ms - ttft_ms > latency_ms / 10 THEN latency_ms - ttft_ms ELSE greatest(latency_ms, 1) END`

const REFRESH = `
  UPDATE compare_lanes AS lane SET stats = measured.stats
  FROM (
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
    FROM compare_cells WHERE run_id = $1 AND status = 'completed' GROUP BY lane_id
  ) AS measured
  WHERE lane.id = measured.lane_id`
