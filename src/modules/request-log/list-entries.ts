import { ID_AFTER_ALL, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Reader } from '../keys/keys.ts'
import { firstIdAt } from '../../kernel/identifiers.ts'
import { HOUR_MS, type UsageRange } from '../usage/usage.ts'
import { entryFromRow, type LogEntry, type LogRow } from './log-entry.ts'
import { isAboutFailures, logConditions, type LogFilter, type LogPart } from './log-parts.ts'

/** Who reads. Operators may read all accounts at once. */
export interface LogReader extends Omit<Reader, 'accountId'> {
  /** Null: all accounts. */
  readonly accountId: string | null
}

export interface LogQuery extends LogReader {
  readonly range: UsageRange
  readonly filter: LogFilter
  /** Only this request. */
  readonly requestUuid: string | null
  readonly page: PageRequest
}

export interface LogPage {
  readonly entries: readonly LogEntry[]
  /** Null at the end. A page may have fewer entries than its limit, or none, and still have a cursor. */
  readonly nextCursor: string | null
}

/** How many rows of a table one page reads at most. */
const ROWS_SCANNED_MAX = 20_000
/** The same for operators, who search all accounts at once. */
export const ROWS_OF_ALL_SCANNED_MAX = 100_000

/** An id may be older than its record: for a repeated request, or for a cell that waited in a queue. */
const ID_AGE_MS_MAX = 25 * HOUR_MS

/** The part of one table, and the range of its rows that can match. */
export interface ScannedPart {
  readonly part: LogPart
  readonly range: UsageRange
}

/**
 * Reads a page from several tables, newest first. A rare filter reads a bounded number of rows and returns where it stopped. Of two
 * rows with the same id, that of the first table counts.
 */
export async function listEntries(
  queryable: Queryable,
  parts: readonly ScannedPart[],
  query: LogQuery,
  scannedMax = ROWS_SCANNED_MAX,
): Promise<LogPage> {
  const scans = await Promise.all(parts.map((part) => scanPart(queryable, part, query, scannedMax)))
  // All tables are read at least down to this id.
  const downTo = scans.map(({ stoppedAt }) => stoppedAt ?? '').reduce((a, b) => (a > b ? a : b), '')
  const found = scans
    .flatMap(({ rows }) => rows)
    .filter(({ id }) => id >= downTo)
    .toSorted((a, b) => (a.id === b.id ? 0 : a.id < b.id ? 1 : -1))
    .filter(({ id }, index, sorted) => id !== sorted[index - 1]?.id)
  const { limit } = query.page
  const entries = found.slice(0, limit).map(entryFromRow)
  const nextCursor = found.length > limit ? (entries.at(-1)?.id ?? null) : downTo || null
  return { entries, nextCursor }
}

interface Scan {
  /** Up to one more than the limit of the page. */
  readonly rows: readonly LogRow[]
  /** The last row that was read. Null if there are no more rows. */
  readonly stoppedAt: string | null
}

async function scanPart(
  queryable: Queryable,
  { part, range }: ScannedPart,
  query: LogQuery,
  scannedMax: number,
): Promise<Scan> {
  const { limit } = query.page
  const bounds = boundsOf(query, range)
  const values: unknown[] = [query.accountId, bounds.first, bounds.before]
  const bind = (value: unknown): string => `$${values.push(value)}`
  const scannedRows = `${part.table} WHERE ${scannedBy(query, part)}`
  const times = `created_at >= ${bind(new Date(range.fromMs))} AND created_at < ${bind(new Date(range.toMs))}`
  // Of all accounts, the id of a project says whose keys they are.
  const owner = query.accountId === null ? 'api_keys.account_id' : '$1::uuid'
  const matching = times + logConditions(part, query.filter, query, bind, owner)
  // The limit inside bounds what a rare filter reads; rows are read only until the limit outside is reached.
  const rows = await queryable.query<LogRow>(
    `SELECT scanned.*, (SELECT name FROM api_keys WHERE api_keys.id = scanned.key_id) AS key_name,
       (SELECT name FROM accounts WHERE accounts.id = scanned.account_id) AS account_name
     FROM (SELECT ${part.columns} FROM ${scannedRows} ORDER BY id DESC LIMIT ${scannedMax}) AS scanned
     WHERE ${matching} ORDER BY id DESC LIMIT ${bind(limit + 1)}`,
    values,
  )
  if (rows.length > limit) return { rows, stoppedAt: rows.at(-1)?.id ?? null }
  const [last] = await queryable.query<{ id: string }>(
    `SELECT id FROM ${scannedRows} ORDER BY id DESC OFFSET ${scannedMax - 1} LIMIT 1`,
    values.slice(0, 3),
  )
  return { rows, stoppedAt: last?.id ?? null }
}

/** SQL: which rows a page reads, in the order of an index. */
function scannedBy({ accountId, filter }: LogQuery, { table }: LogPart): string {
  const ids = 'id >= $2 AND id < $3'
  if (accountId !== null) return `account_id = $1 AND ${ids}`
  const failed = table === 'usage_records' && isAboutFailures(filter) ? ` AND outcome <> 'completed'` : ''
  return `$1::uuid IS NULL AND ${ids}${failed}`
}

function boundsOf({ page, requestUuid }: LogQuery, range: UsageRange): { first: string; before: string } {
  if (requestUuid !== null) return { first: requestUuid, before: idAfter(requestUuid) }
  const before = firstOf(page.afterId ?? ID_AFTER_ALL, firstIdAt(range.toMs))
  return { first: firstIdAt(Math.max(0, range.fromMs - ID_AGE_MS_MAX)), before }
}

// As text, ids sort like in the database: digits and lower case.
function firstOf(a: string, b: string): string {
  return a.toLowerCase() < b ? a : b
}

function idAfter(id: string): string {
  const next = BigInt(`0x${id.replaceAll('-', '')}`) + 1n
  return next
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}
