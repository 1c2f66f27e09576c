import type { Queryable } from '../../storage/database.ts'

/** A run may have a hundred thousand cells; what is left is removed the next time. */
const RUNS_MAX = 10

/** Removes runs that ended long ago and that nobody saved, with everything below them. */
export async function sweepRuns(queryable: Queryable, retentionMs: number): Promise<void> {
  await queryable.query(
    `DELETE FROM compare_runs WHERE id IN (
       SELECT id FROM compare_runs WHERE NOT is_pinned AND completed_at < now() - $1 * interval '1 millisecond'
       ORDER BY completed_at LIMIT $2)`,
    [retentionMs, RUNS_MAX],
  )
}
