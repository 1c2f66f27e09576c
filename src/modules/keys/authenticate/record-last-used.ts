import type { Database } from '../../../storage/database.ts'

const FLUSH_INTERVAL_MS = 5000
/** Beyond this number of keys between two flushes, uses are not recorded until the next use. */
const PENDING_KEYS_MAX = 50_000

export interface LastUsedRecorder {
  /** Adds a map entry. The database write comes later. */
  note(keyId: string, usedAtMs: number): void
  /** Writes all recorded uses. Rejects if the database fails; the uses are kept for the next flush. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Writes `last_used_at` in one statement for all keys used since the last flush, not for each request. */
export function recordLastUsed({
  database,
  flushIntervalMs = FLUSH_INTERVAL_MS,
}: {
  database: Database
  flushIntervalMs?: number
}): LastUsedRecorder {
  let pending = new Map<string, number>()
  let running: Promise<void> = Promise.resolve()

  const note = (keyId: string, usedAtMs: number): void => {
    if (pending.size >= PENDING_KEYS_MAX && !pending.has(keyId)) return
    const noted = pending.get(keyId)
    if (noted === undefined || noted < usedAtMs) pending.set(keyId, usedAtMs)
  }

  const writePending = async (): Promise<void> => {
    if (pending.size === 0) return
    const batch = pending
    pending = new Map()
    try {
      await writeLastUsed(database, batch)
    } catch (error) {
      for (const [keyId, usedAtMs] of batch) note(keyId, usedAtMs)
      throw error
    }
  }

  const flush = (): Promise<void> => {
    running = running.catch(() => undefined).then(writePending)
    return running
  }

  // A failed flush is retried at the next tick. Other parts report that the database is unavailable.
  const timer = setInterval(() => void flush().catch(() => undefined), flushIntervalMs)
  timer.unref()

  const close = async (): Promise<void> => {
    clearInterval(timer)
    // If the database is unavailable, only the last few seconds of uses are lost, and the shutdown continues.
    await flush().catch(() => undefined)
  }

  return { note, flush, close }
}

// Locks rows in id order, so that two processes that flush the same keys do not deadlock.
const WRITE_LAST_USED = `
  WITH used AS (
    SELECT id, used_at FROM unnest($1::uuid[], $2::timestamptz[]) AS noted (id, used_at)
  ), locked AS (
    SELECT id FROM api_keys WHERE id IN (SELECT id FROM used) ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE api_keys SET last_used_at = used.used_at
  FROM used JOIN locked USING (id)
  WHERE api_keys.id = used.id AND (api_keys.last_used_at IS NULL OR api_keys.last_used_at < used.used_at)`

async function writeLastUsed(database: Database, batch: ReadonlyMap<string, number>): Promise<void> {
  const usedAt = [...batch.values()].map((usedAtMs) => new Date(usedAtMs))
  await database.transaction((transaction) => transaction.query(WRITE_LAST_USED, [[...batch.keys()], usedAt]))
}
