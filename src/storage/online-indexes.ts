import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../kernel/logger.ts'
import { openSession } from './connection/open-session.ts'
import type { Queryable } from './database.ts'
import { SCHEMA } from './schema.ts'

interface OnlineIndex {
  readonly name: string
  readonly on: string
  /** Its queries work without it, slower. */
  readonly isOptional?: true
}

/** Migrations create them in small tables. In a large one that would stop its writers for minutes. */
const ONLINE_INDEXES: readonly OnlineIndex[] = [
  { name: 'failed_requests_by_id', on: 'failed_requests (id)' },
  { name: 'usage_records_failed_by_id', on: `usage_records (id) WHERE outcome <> 'completed'` },
  { name: 'usage_records_by_id', on: 'usage_records (id)' },
  {
    name: 'ledger_entries_by_time',
    on: `ledger_entries (account_id, created_at, id) INCLUDE (amount_nano_usd) WHERE book = 'credit'`,
    isOptional: true,
  },
  { name: 'usage_rollups_by_hour', on: 'usage_rollups (hour)', isOptional: true },
]

/** Advisory lock of the process that builds them. */
const LOCK_ID = 7_275_929_040
const PAUSE_MS = 60_000
const LOCK_TIMEOUT_MS = 3_600_000

interface OnlineIndexesOptions {
  readonly database: Queryable
  readonly connectionString: string
  readonly logger: Logger
}

export interface OnlineIndexes {
  /** Whether all indexes that queries need can be used. */
  areReady(): Promise<boolean>
  close(): Promise<void>
}

/** Builds missing indexes without locking their tables, in one process at a time, and tries again until all are there. */
export function keepOnlineIndexes(options: OnlineIndexesOptions): OnlineIndexes {
  const { database, logger } = options
  const closing = new AbortController()
  let isReady = false
  const areReady = async (): Promise<boolean> => {
    isReady ||= (await listMissing(database)).every(({ isOptional }) => isOptional === true)
    return isReady
  }
  const areBuilt = async (): Promise<boolean> => (await listMissing(database)).length === 0
  const build = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        if (await areBuilt()) return
        await buildMissing(options, closing.signal)
        if (await areBuilt()) return
      } catch (error) {
        if (!closing.signal.aborted) logger.warn({ err: error }, 'indexes could not be built; trying again')
      }
      await delay(PAUSE_MS, undefined, { signal: closing.signal, ref: false }).catch(() => {})
    }
  }
  const building = build()
  return {
    areReady,
    close: async () => {
      closing.abort()
      await building
    },
  }
}

async function listMissing(queryable: Queryable): Promise<OnlineIndex[]> {
  const valid = await queryable.query<{ name: string }>(
    `SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE relnamespace = '${SCHEMA}'::regnamespace AND relname = ANY ($1::text[]) AND indisvalid`,
    [ONLINE_INDEXES.map(({ name }) => name)],
  )
  return ONLINE_INDEXES.filter((index) => !valid.some(({ name }) => name === index.name))
}

async function buildMissing(
  { database, connectionString, logger }: OnlineIndexesOptions,
  closing: AbortSignal,
): Promise<void> {
  const session = await openSession({
    connectionString,
    applicationName: 'parkway-indexes',
    lockTimeoutMs: LOCK_TIMEOUT_MS,
  })
  // Ending the session cancels nothing on the server, so that a long build is cancelled by its process id.
  const { rows } = await session.query<{ pid: number; held: boolean }>(
    'SELECT pg_backend_pid() AS pid, pg_try_advisory_lock($1) AS held',
    [LOCK_ID],
  )
  const [{ pid, held } = { pid: 0, held: false }] = rows
  const cancel = (): void => void database.query('SELECT pg_cancel_backend($1)', [pid]).catch(() => {})
  closing.addEventListener('abort', cancel, { once: true })
  try {
    if (!held) return
    for (const { name, on } of await listMissing(database)) {
      if (closing.aborted) return
      const startedMs = performance.now()
      // One that an interrupted build left behind is not valid.
      await session.query(`DROP INDEX CONCURRENTLY IF EXISTS ${SCHEMA}.${name}`)
      await session.query(`CREATE INDEX CONCURRENTLY ${name} ON ${SCHEMA}.${on}`)
      const seconds = Math.round((performance.now() - startedMs) / 1000)
      logger.info({ index: name, seconds }, 'index built')
    }
  } finally {
    closing.removeEventListener('abort', cancel)
    await session.end().catch(() => {})
  }
}
