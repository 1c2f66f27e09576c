import type { Database } from '../../storage/database.ts'
import { listMediaIds } from './present-result.ts'

const BATCH_ROWS = 100
const BATCHES_MAX = 50

/** Takes away results whose time is over, and their files. Any process does it for all. */
export async function sweepResults(
  database: Database,
  removeMedia: (mediaIds: readonly string[]) => Promise<void>,
): Promise<void> {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const rows = await database.query<{ id: string; result: unknown }>(
      `SELECT id, result FROM tasks WHERE result IS NOT NULL AND expires_at <= now() ORDER BY expires_at LIMIT $1`,
      [BATCH_ROWS],
    )
    if (rows.length === 0) return
    // Files first: what is cut in between is found and done again.
    const mediaIds = rows.flatMap(({ result }) => listMediaIds(result))
    if (mediaIds.length > 0) await removeMedia(mediaIds)
    await database.query('UPDATE tasks SET result = NULL, updated_at = now() WHERE id = ANY ($1)', [
      rows.map(({ id }) => id),
    ])
  }
}
