import type { Queryable } from '../../storage/database.ts'

const KEPT_DAYS = 30

/** Forgets batches that ended long ago. Their files are kept as long as they were to be kept. */
export async function sweepBatches(queryable: Queryable): Promise<void> {
  await queryable.query(
    `DELETE FROM batches WHERE created_at < now() - $1 * interval '1 day' AND worker_id IS NULL
       AND status IN ('failed', 'completed', 'expired', 'cancelled')`,
    [KEPT_DAYS],
  )
}
