import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../database.ts'

const INTERVAL_MS = 5_000
const BATCH_ROWS = 10_000
const BATCHES_MAX = 20

/**
 * Regularly adds appended changes to the sums, so that reading an account's bytes needs only a few rows. Runs in every process.
 */
export function startFoldingStoredBytes({ database, logger }: { database: Database; logger: Logger }): {
  close(): Promise<void>
} {
  let folding: Promise<unknown> = Promise.resolve()
  let isFolding = false
  const fold = async (): Promise<void> => {
    isFolding = true
    try {
      await foldStoredBytes(database)
    } catch (error) {
      logger.warn({ err: error }, 'stored bytes were not added up')
    } finally {
      isFolding = false
    }
  }
  const timer = setInterval(() => {
    if (!isFolding) folding = fold()
  }, INTERVAL_MS)
  timer.unref()
  return {
    async close() {
      clearInterval(timer)
      await folding
    },
  }
}

export async function foldStoredBytes(database: Database): Promise<void> {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const [row] = await database.query<{ folded: bigint }>(FOLD, [BATCH_ROWS])
    if (Number(row?.folded ?? 0) < BATCH_ROWS) return
  }
}

// One statement, so that readers see a change either as an appended row or in the sum. Rows are locked in a fixed order.
const FOLD = `
  WITH taken AS (
    DELETE FROM stored_byte_changes WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM stored_byte_changes LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING account_id, kind, bytes
  ), folded AS (
    INSERT INTO stored_bytes (account_id, kind, bytes)
    SELECT account_id, kind, sum(bytes) FROM taken GROUP BY account_id, kind ORDER BY account_id, kind
    ON CONFLICT (account_id, kind) DO UPDATE SET bytes = stored_bytes.bytes + excluded.bytes
  )
  SELECT count(*) AS folded FROM taken`
