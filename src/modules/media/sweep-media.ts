import type { Database } from '../../storage/database.ts'
import type { MediaStore } from '../../storage/media-store/media-store.ts'

const BATCH_FILES = 100
const BATCHES_MAX = 20
const DELETIONS_MAX = 8

interface ClaimedRow {
  readonly id: string
  readonly store_key: string
}

/**
 * Deletes expired files in small batches, each file before its row. Several processes may do this at once: each claims different
 * files, and unfinished claims are taken again later.
 */
export async function sweepMedia(database: Database, store: Pick<MediaStore, 'delete'>): Promise<number> {
  let removed = 0
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const claimed = await database.query<ClaimedRow>(CLAIM_EXPIRED, [BATCH_FILES])
    removed += await removeFiles(database, store, claimed)
    if (claimed.length < BATCH_FILES) break
  }
  return removed
}

/** Deletes files immediately, whatever their expiry. Missing files are ignored. */
export async function removeMedia(
  database: Database,
  store: Pick<MediaStore, 'delete'>,
  ids: readonly string[],
): Promise<void> {
  for (let start = 0; start < ids.length; start += BATCH_FILES) {
    const claimed = await database.query<ClaimedRow>(CLAIM_NAMED, [ids.slice(start, start + BATCH_FILES)])
    await removeFiles(database, store, claimed)
  }
}

async function removeFiles(
  database: Database,
  store: Pick<MediaStore, 'delete'>,
  claimed: readonly ClaimedRow[],
): Promise<number> {
  const removed: string[] = []
  const failures: unknown[] = []
  for (let start = 0; start < claimed.length; start += DELETIONS_MAX) {
    const deletions = claimed.slice(start, start + DELETIONS_MAX).map(async ({ id, store_key: key }) => {
      try {
        await store.delete(key)
        removed.push(id)
      } catch (error) {
        failures.push(error)
      }
    })
    await Promise.all(deletions)
  }
  if (removed.length > 0) await database.query('DELETE FROM media WHERE id = ANY($1::uuid[])', [removed])
  if (failures.length > 0) throw new Error('some files could not be removed', { cause: failures[0] })
  return removed.length
}

const CLAIM_EXPIRED = `
  UPDATE media SET removing_at = now() WHERE id IN (
    SELECT id FROM media
    WHERE expires_at <= now() AND (removing_at IS NULL OR removing_at < now() - interval '10 minutes')
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
  ) RETURNING id, store_key`

const CLAIM_NAMED = `
  UPDATE media SET removing_at = now(), expires_at = LEAST(expires_at, now())
  WHERE id = ANY($1::uuid[]) RETURNING id, store_key`
