import type { Database } from '../../../storage/database.ts'
import type { MediaStore } from '../../../storage/media-store/media-store.ts'
import { removeFromStore } from '../sweep-files.ts'
import { leaveParts } from './lock-upload.ts'

const BATCH_UPLOADS = 100
const BATCH_PARTS = 100
const BATCHES_MAX = 20

interface SweepParts {
  readonly database: Database
  readonly store: Pick<MediaStore, 'delete'>
}

/** Ends uploads whose hour is over, and removes parts that belong to no file. */
export async function sweepUploads(parts: SweepParts): Promise<void> {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const ended = await parts.database.transaction(async (transaction) => {
      const rows = await transaction.query<{ id: string }>(END, [BATCH_UPLOADS])
      const ids = rows.map(({ id }) => id)
      await leaveParts(transaction, ids)
      await transaction.query('DELETE FROM file_reservations WHERE id = ANY ($1::uuid[])', [ids])
      return ids.length
    })
    if (ended < BATCH_UPLOADS) break
  }
  await parts.database.query(FORGET)
  await sweepParts(parts)
}

/** Removes parts that belong to no file: each from the store before its row. */
export async function sweepParts({ database, store }: SweepParts): Promise<void> {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const claimed = await database.query<{ id: string }>(CLAIM, [BATCH_PARTS])
    const ids = claimed.map(({ id }) => id)
    await removeFromStore(store, ids, (removed) =>
      database.query('DELETE FROM upload_parts WHERE id = ANY ($1::uuid[])', [removed]),
    )
    if (claimed.length < BATCH_PARTS) return
  }
}

const END = `
  UPDATE uploads SET status = 'expired' WHERE id IN (
    SELECT id FROM uploads WHERE expires_at <= now() AND status = 'pending'
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
  ) RETURNING id`

// Until then the same completion has the same answer.
const FORGET = `
  DELETE FROM uploads WHERE id IN (
    SELECT id FROM uploads WHERE expires_at < now() - interval '1 day' AND status <> 'pending'
    ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`

// What somebody else removes is left to them for ten minutes, and a part that may still be written for two hours.
const CLAIM = `
  UPDATE upload_parts SET removing_at = now() WHERE id IN (
    SELECT id FROM upload_parts
    WHERE removing_at < now() - interval '10 minutes' AND (is_stored OR created_at < now() - interval '2 hours')
    ORDER BY removing_at LIMIT $1 FOR UPDATE SKIP LOCKED
  ) RETURNING id`
