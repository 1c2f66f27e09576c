import type { Queryable } from '../../../storage/database.ts'

/** Limit per sweep, because a run may have 100,000 cells. The next sweep removes the rest. */
const RUNS_MAX = 10

/** Removes unsaved runs after the retention period, with their cells. */
export async function sweepRuns(queryable: Queryable, retentionMs: number): Promise<void> {
  await queryable.query(
    `DELETE FROM compare_runs WHERE id IN (
       SELECT id FROM compare_runs WHERE NOT is_pinned AND completed_at < now() - $1 * interval '1 millisecond'
       ORDER BY completed_at LIMIT $2)`,
    [retentionMs, RUNS_MAX],
  )
}
