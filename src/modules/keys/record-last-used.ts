import type { Database } from '../../storage/database.ts'

const FLUSH_INTERVAL_MS = 5000
/** More keys than this between two flushes are not recorded; their next use is. */
const PENDING_KEYS_MAX = 50_000

export interface LastUsedRecorder {
  /** Costs one map entry; the write comes later. */
  note(keyId: string, usedAtMs: number): void
  /** Writes what was noted so far. Rejects when the database does; what was noted is kept for the next time. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Writes `last_used_at` with one statement for all keys that were used since the last, not one a request. */
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

  // A failed flush is tried again at the next tick and reported by whatever else needs the database.
  const timer = setInterval(() => void flush().catch(() => undefined), flushIntervalMs)
  timer.unref()

  const close = async (): Promise<void> => {
    clearInterval(timer)
    // A database that is away costs the last few seconds of use, and not the rest of the shutdown.
    await flush().catch(() => undefined)
  }

  return { note, flush, close }
}

// Rows are locked in one order, so that two processes flushing the same keys wait instead of deadlocking.
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
