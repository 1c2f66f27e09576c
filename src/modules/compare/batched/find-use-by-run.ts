import type { Queryable } from '../../../storage/database.ts'

/** Names the run that still has to read a file of answers. Null: no run has. */
export async function findUseByRun(
  queryable: Queryable,
  accountId: string,
  fileId: string,
): Promise<string | null> {
  const [row] = await queryable.query<{ id: string }>(
    `SELECT run.id FROM compare_runs AS run
     JOIN compare_run_batches AS asked ON asked.run_id = run.id AND asked.collected_at IS NULL
     JOIN batches ON batches.id = asked.batch_id
     WHERE run.account_id = $1 AND (run.status IN ('queued', 'running') OR run.awaits_batches)
       AND (batches.output_file_id = $2 OR batches.error_file_id = $2) LIMIT 1`,
    [accountId, fileId],
  )
  return row === undefined ? null : `the comparison ${row.id}, which collects its answers`
}
