import { setTimeout as delay } from 'node:timers/promises'
import type { Queryable } from '../../../storage/database.ts'

const POLL_MS = 20
/** A posting takes less than a second. A restored dump, or a transaction that somebody left open, takes longer. */
const WAIT_MS_MAX = 30_000

/**
 * Waits for the transactions that write usage now. A statement locks its table before it takes its snapshot, so whoever begins to write
 * later sees everything that is committed now. Unlike a lock on the table, this keeps nobody waiting. Returns whether all have ended.
 */
export async function waitForWriters(queryable: Queryable): Promise<boolean> {
  const deadlineMs = performance.now() + WAIT_MS_MAX
  let remaining: readonly string[] = [...(await listWriters(queryable))]
  while (remaining.length > 0) {
    if (performance.now() > deadlineMs) return false
    await delay(POLL_MS)
    const writing = await listWriters(queryable)
    remaining = remaining.filter((writer) => writing.has(writer))
  }
  return true
}

async function listWriters(queryable: Queryable): Promise<Set<string>> {
  const rows = await queryable.query<{ virtualtransaction: string }>(WRITERS)
  return new Set(rows.map(({ virtualtransaction }) => virtualtransaction))
}

const WRITERS = `
  SELECT DISTINCT virtualtransaction FROM pg_locks
  WHERE locktype = 'relation' AND granted AND mode = 'RowExclusiveLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND relation IN ('usage_rollups'::regclass, 'usage_by_label'::regclass)`
