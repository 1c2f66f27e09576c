import type { Database } from '../../../storage/database.ts'
import { listMediaIds } from './present-result.ts'

const BATCH_ROWS = 100
const BATCHES_MAX = 50

/** Deletes the inputs, results and files of expired tasks. Any process does this for all. */
export async function sweepResults(
  database: Database,
  removeMedia: (mediaIds: readonly string[]) => Promise<void>,
): Promise<void> {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const rows = await database.query<{ id: string; result: unknown }>(
      `SELECT id, result FROM tasks
       WHERE work <> 'null'::jsonb AND expires_at <= now() AND completed_at IS NOT NULL ORDER BY expires_at LIMIT $1`,
      [BATCH_ROWS],
    )
    if (rows.length === 0) return
    // Delete the files first: if the process dies in between, the rows are found again.
    const mediaIds = rows.flatMap(({ result }) => listMediaIds(result))
    if (mediaIds.length > 0) await removeMedia(mediaIds)
    await database.query(
      `UPDATE tasks SET result = NULL, work = 'null', metadata = NULL, updated_at = now() WHERE id = ANY ($1)`,
      [rows.map(({ id }) => id)],
    )
  }
}
