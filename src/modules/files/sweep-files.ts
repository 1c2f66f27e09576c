import type { Database } from '../../storage/database.ts'
import type { MediaStore } from '../../storage/media-store/media-store.ts'

const BATCH_FILES = 100
const BATCHES_MAX = 20
const DELETIONS_MAX = 8

interface SweepParts {
  readonly database: Database
  readonly store: Pick<MediaStore, 'delete'>
}

/** Removes files that have expired, were deleted or were never finished: each from the store before its row. */
export async function sweepFiles(parts: SweepParts): Promise<void> {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const claimed = await parts.database.query<{ id: string }>(CLAIM, [BATCH_FILES])
    await removeFiles(
      parts,
      claimed.map(({ id }) => id),
    )
    if (claimed.length < BATCH_FILES) return
  }
}

/** Removes files that nobody may read any more. What fails is left to the sweep. */
export async function removeFiles({ database, store }: SweepParts, ids: readonly string[]): Promise<void> {
  await removeFromStore(store, ids, (removed) =>
    database.query('DELETE FROM files WHERE id = ANY ($1::uuid[])', [removed]),
  )
}

/** Forgets what was removed, and throws if something was not. */
export async function removeFromStore(
  store: Pick<MediaStore, 'delete'>,
  ids: readonly string[],
  forget: (removed: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const removed: string[] = []
  let failure: unknown = null
  for (let start = 0; start < ids.length; start += DELETIONS_MAX) {
    const deletions = ids.slice(start, start + DELETIONS_MAX).map(async (id) => {
      try {
        await store.delete(id)
        removed.push(id)
      } catch (error) {
        failure = error
      }
    })
    await Promise.all(deletions)
  }
  if (removed.length > 0) await forget(removed)
  if (failure !== null) throw new Error('some files could not be removed', { cause: failure })
}

// What somebody else removes is left to them for ten minutes.
const CLAIM = `
  UPDATE files SET removing_at = now() WHERE id IN (
    SELECT id FROM files
    WHERE (expires_at <= now() AND removing_at IS NULL) OR removing_at < now() - interval '10 minutes'
    ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
  ) RETURNING id`
