import { setTimeout as delay } from 'node:timers/promises'
import type { Queryable } from './database.ts'

const POLL_MS = 20
/** A posting takes less than a second. A restored dump, or a transaction that somebody left open, takes longer. */
const WAIT_MS_MAX = 30_000

interface WaitOptions {
  readonly waitMsMax?: number
}

/**
 * Waits for the transactions that write one of these tables now. A statement locks its table before it takes its snapshot, so whoever
 * begins to write later sees everything that is committed now. Unlike a lock on the table, this keeps nobody waiting. Returns whether
 * all have ended.
 */
export async function waitForWriters(
  queryable: Queryable,
  tables: readonly string[],
  { waitMsMax = WAIT_MS_MAX }: WaitOptions = {},
): Promise<boolean> {
  const deadlineMs = performance.now() + waitMsMax
  let remaining: readonly string[] = [...(await listWriters(queryable, tables))]
  while (remaining.length > 0) {
    if (performance.now() > deadlineMs) return false
    await delay(POLL_MS)
    const writing = await listWriters(queryable, tables)
    remaining = remaining.filter((writer) => writing.has(writer))
  }
  return true
}

async function listWriters(queryable: Queryable, tables: readonly string[]): Promise<Set<string>> {
  const rows = await queryable.query<{ virtualtransaction: string }>(WRITERS, [tables])
  return new Set(rows.map(({ virtualtransaction }) => virtualtransaction))
}

const WRITERS = `
  SELECT DISTINCT virtualtransaction FROM pg_locks
  WHERE locktype = 'relation' AND granted AND mode = 'RowExclusiveLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND relation = ANY (SELECT name::regclass FROM unnest($1::text[]) AS name)`
