import type { Clock } from '../../kernel/clock.ts'
import { ID_BEFORE_ALL, openPage, type OpenPage, type PageRequest } from '../../kernel/page.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import type { Caller } from '../keys/keys.ts'
import type { TelemetrySignal } from './telemetry-signal.ts'

const FLUSH_INTERVAL_MS = 5000
/** Beyond this number of people between two flushes, exports of further ones are not counted. */
const PENDING_MAX = 20_000
const KEPT_DAYS = 90
const DAY_MS = 86_400_000

/** What the agents of a person exported in some days. */
export interface PersonExports {
  readonly userId: string
  readonly email: string
  readonly name: string | null
  /** Days with an export. */
  readonly activeDays: number
  readonly metrics: bigint
  readonly logs: bigint
  readonly traces: bigint
  readonly refused: bigint
  readonly bytes: bigint
  readonly lastAtMs: number
}

interface NotedExport {
  readonly signal: TelemetrySignal | 'refused'
  readonly bytes: number
}

/** How much the agents of each person export: one row for a person and a day, kept for 90 days. */
export interface ExportCounts {
  /** Counts for the person whose key or token it is. Written a few seconds later. */
  note(caller: Caller, noted: NotedExport): void
  /** Returns the people with exports in the last days, in the order of their ids. */
  list(accountId: string, query: PageRequest & { readonly days: number }): Promise<OpenPage<PersonExports>>
  flush(): Promise<void>
  close(): Promise<void>
}

interface Pending {
  readonly accountId: string
  readonly userId: string
  readonly day: string
  readonly exports: Record<NotedExport['signal'], number>
  bytes: number
  lastAtMs: number
}

export function createExportCounts({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: Clock
}): ExportCounts {
  let pending = new Map<string, Pending>()
  let running: Promise<void> = Promise.resolve()

  const writePending = async (): Promise<void> => {
    if (pending.size === 0) return
    const batch = pending
    pending = new Map()
    try {
      await writeCounts(database, [...batch.values()])
    } catch (error) {
      for (const [key, counts] of batch) {
        const newer = pending.get(key)
        if (newer === undefined) pending.set(key, counts)
        else add(newer, counts)
      }
      throw error
    }
  }
  const flush = (): Promise<void> => {
    running = running.catch(() => undefined).then(writePending)
    return running
  }
  // A failed flush is repeated with the next one. Other parts tell that the database is away.
  const timer = setInterval(() => void flush().catch(() => undefined), FLUSH_INTERVAL_MS)
  timer.unref()

  return {
    note: ({ accountId, userId }, { signal, bytes }) => {
      if (typeof userId !== 'string') return
      const atMs = clock.nowMs()
      const day = new Date(atMs).toISOString().slice(0, 10)
      const key = `${accountId} ${userId} ${day}`
      let counts = pending.get(key)
      if (counts === undefined) {
        if (pending.size >= PENDING_MAX) return
        const exports = { metrics: 0, logs: 0, traces: 0, refused: 0 }
        counts = { accountId, userId, day, exports, bytes: 0, lastAtMs: atMs }
        pending.set(key, counts)
      }
      counts.exports[signal] += 1
      counts.bytes += bytes
      counts.lastAtMs = atMs
    },
    list: async (accountId, { limit, afterId, days }) => {
      await flush()
      const firstDay = new Date(clock.nowMs() - (days - 1) * DAY_MS).toISOString().slice(0, 10)
      const rows = await database.query<CountsRow>(READ_COUNTS, [
        accountId,
        firstDay,
        afterId ?? ID_BEFORE_ALL,
        limit + 1,
      ])
      return openPage(rows.map(countsFromRow), limit)
    },
    flush,
    close: async () => {
      clearInterval(timer)
      // If the database is away, the counts of the last seconds are lost.
      await flush().catch(() => undefined)
    },
  }
}

function add(to: Pending, { exports, bytes, lastAtMs }: Pending): void {
  for (const name of ['metrics', 'logs', 'traces', 'refused'] as const) to.exports[name] += exports[name]
  to.bytes += bytes
  to.lastAtMs = Math.max(to.lastAtMs, lastAtMs)
}

// In the order of the key, so that two processes that write the same rows do not deadlock. Whoever has left the account is left out.
const WRITE_COUNTS = `
  INSERT INTO agent_exports AS e (account_id, user_id, day, metrics, logs, traces, refused, bytes, last_at)
  SELECT n.* FROM unnest($1::uuid[], $2::uuid[], $3::date[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::timestamptz[]) AS n (account_id, user_id, day, metrics, logs, traces, refused, bytes, last_at)
  JOIN account_members m ON m.account_id = n.account_id AND m.user_id = n.user_id
  ORDER BY n.account_id, n.user_id, n.day
  ON CONFLICT (account_id, user_id, day) DO UPDATE SET metrics = e.metrics + excluded.metrics, logs = e.logs + excluded.logs,
    traces = e.traces + excluded.traces, refused = e.refused + excluded.refused, bytes = e.bytes + excluded.bytes,
    last_at = greatest(e.last_at, excluded.last_at)`

async function writeCounts(database: Database, batch: readonly Pending[]): Promise<void> {
  await database.query(WRITE_COUNTS, [
    batch.map(({ accountId }) => accountId),
    batch.map(({ userId }) => userId),
    batch.map(({ day }) => day),
    batch.map(({ exports }) => exports.metrics),
    batch.map(({ exports }) => exports.logs),
    batch.map(({ exports }) => exports.traces),
    batch.map(({ exports }) => exports.refused),
    batch.map(({ bytes }) => bytes),
    batch.map(({ lastAtMs }) => new Date(lastAtMs)),
  ])
}

const READ_COUNTS = `
  SELECT e.user_id, u.email, m.name, count(*)::int AS active_days, sum(e.metrics)::bigint AS metrics, sum(e.logs)::bigint AS logs,
    sum(e.traces)::bigint AS traces, sum(e.refused)::bigint AS refused, sum(e.bytes)::bigint AS bytes, max(e.last_at) AS last_at
  FROM agent_exports e JOIN users u ON u.id = e.user_id
  JOIN account_members m ON m.account_id = e.account_id AND m.user_id = e.user_id
  WHERE e.account_id = $1 AND e.day >= $2::date AND e.user_id > $3
  GROUP BY e.user_id, u.email, m.name ORDER BY e.user_id LIMIT $4`

interface CountsRow {
  readonly user_id: string
  readonly email: string
  readonly name: string | null
  readonly active_days: number
  readonly metrics: bigint
  readonly logs: bigint
  readonly traces: bigint
  readonly refused: bigint
  readonly bytes: bigint
  readonly last_at: Date
}

function countsFromRow(row: CountsRow): PersonExports {
  const { user_id: userId, active_days: activeDays, last_at: lastAt, ...counts } = row
  return { ...counts, userId, activeDays, lastAtMs: lastAt.getTime() }
}

/** Deletes what is older than anybody can read. */
export async function sweepExportCounts(queryable: Queryable): Promise<void> {
  await queryable.query(`DELETE FROM agent_exports WHERE day < now()::date - ${KEPT_DAYS}`)
}
