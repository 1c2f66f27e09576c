import type { NanoUsd } from '../../../kernel/money.ts'
import { openPage, type OpenPage, type Page, type PageRequest } from '../../../kernel/page.ts'
import type { Queryable } from '../../../storage/database.ts'
import { chargesFromRow, readChargeNames, type EntryCharge, type StoredCharge } from './entry-charges.ts'

export const ENTRY_KINDS = ['grant', 'charge', 'reverse', 'deduct', 'expire'] as const
type EntryKind = (typeof ENTRY_KINDS)[number]

/** A movement of an account's credit, as its owner sees it. */
export interface LedgerEntry {
  readonly id: string
  readonly key: string
  readonly kind: EntryKind
  readonly amountNanoUsd: NanoUsd
  /** The balance after it: the sum of all entries up to this one. */
  readonly balanceNanoUsd: NanoUsd
  readonly reason: string | null
  /** What a charge is for, the dearest first. Null: it is no charge, or was written by an earlier release. */
  readonly charges: readonly EntryCharge[] | null
  readonly createdAtMs: number
}

export interface EntryFilter {
  readonly kind?: EntryKind | undefined
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
}

/** Of an entry in a list. What is beyond is one part without a key and a model. */
const CHARGES_LISTED_MAX = 20

export async function listEntries(
  queryable: Queryable,
  accountId: string,
  page: PageRequest,
  filter: EntryFilter = {},
): Promise<Page<LedgerEntry>> {
  const [{ items, hasMore }, [count]] = await Promise.all([
    readEntries(queryable, accountId, { page, filter, chargesMax: CHARGES_LISTED_MAX }),
    queryable.query<{ total: bigint }>(COUNT, [accountId, ...filterValues(filter)]),
  ])
  return { items, total: Number(count?.total ?? 0), hasMore }
}

/** An entry may have thousands of parts, so that few are in memory at once. */
const WALKED_AT_ONCE = 100

/** Walks over all entries with all their parts, newest first, in pages. */
export async function* walkEntries(
  queryable: Queryable,
  accountId: string,
  filter: EntryFilter,
): AsyncGenerator<readonly LedgerEntry[], void> {
  let afterId: string | null = null
  for (;;) {
    const page: OpenPage<LedgerEntry> = await readEntries(queryable, accountId, {
      page: { limit: WALKED_AT_ONCE, afterId },
      filter,
      chargesMax: null,
    })
    yield page.items
    afterId = page.items.at(-1)?.id ?? null
    if (!page.hasMore) return
  }
}

interface EntriesQuery {
  readonly page: PageRequest
  readonly filter: EntryFilter
  readonly chargesMax: number | null
}

async function readEntries(
  queryable: Queryable,
  accountId: string,
  { page: { limit, afterId }, filter, chargesMax }: EntriesQuery,
): Promise<OpenPage<LedgerEntry>> {
  const after = afterId === null ? AFTER_ALL : await findPosition(queryable, accountId, afterId)
  if (after === null) return { items: [], hasMore: false }
  const rows = await queryable.query<EntryRow>(READ_PAGE, [
    accountId,
    ...filterValues(filter),
    after.at,
    after.id,
    limit + 1,
    chargesMax,
  ])
  const page = openPage(rows, limit)
  const names = await readChargeNames(
    queryable,
    accountId,
    page.items.flatMap(({ charges }) => charges ?? []),
  )
  return {
    ...page,
    items: page.items.map((row) => ({ ...entryFromRow(row), charges: chargesFromRow(row, names) })),
  }
}

interface Position {
  readonly at: string
  readonly id: string
}

/** No entry is written then. */
const FAR_FUTURE = '9999-12-31T00:00:00Z'
const AFTER_ALL: Position = { at: FAR_FUTURE, id: '9223372036854775807' }

async function findPosition(
  queryable: Queryable,
  accountId: string,
  entryId: string,
): Promise<Position | null> {
  // As text, because a Date has no microseconds.
  const [row] = await queryable.query<{ at: string }>(
    `SELECT created_at::text AS at FROM ledger_entries WHERE id = $1 AND account_id = $2 AND book = 'credit'`,
    [entryId, accountId],
  )
  return row === undefined ? null : { at: row.at, id: entryId }
}

function filterValues({ kind, sinceMs, untilMs }: EntryFilter): readonly unknown[] {
  const time = (ms: number | undefined): Date | null => (ms === undefined ? null : new Date(ms))
  return [kind ?? null, time(sinceMs), time(untilMs)]
}

interface EntryRow {
  readonly id: bigint
  readonly key: string
  readonly kind: EntryKind
  readonly amount_nano_usd: bigint
  readonly balance: bigint
  readonly reason: string | null
  readonly charges: readonly StoredCharge[] | null
  readonly requests: bigint | null
  readonly created_at: Date
}

function entryFromRow(row: EntryRow): Omit<LedgerEntry, 'charges'> {
  return {
    id: String(row.id),
    key: row.key,
    kind: row.kind,
    amountNanoUsd: row.amount_nano_usd,
    balanceNanoUsd: row.balance,
    reason: row.reason,
    createdAtMs: row.created_at.getTime(),
  }
}

const IS_ASKED = `account_id = $1 AND book = 'credit' AND ($2::text IS NULL OR kind = $2)
  AND created_at >= coalesce($3::timestamptz, '-infinity') AND created_at < coalesce($4::timestamptz, '${FAR_FUTURE}')`

const COUNT = `SELECT count(*) AS total FROM ledger_entries WHERE ${IS_ASKED}`

/**
 * The order is that of the days of statements. The balance after an entry is what the account had at the beginning of its day, and the
 * entries of the day up to it, so that a page reads the entries of its days and no others.
 */
const READ_PAGE = `
  WITH page AS MATERIALIZED (
    SELECT id, (created_at AT TIME ZONE 'UTC')::date AS day FROM ledger_entries
    WHERE ${IS_ASKED} AND (created_at, id) < ($5::timestamptz, $6::bigint)
    ORDER BY created_at DESC, id DESC LIMIT $7
  ), opened AS (
    SELECT day, (sum(sum(amount_nano_usd)) OVER (ORDER BY day) - sum(amount_nano_usd)) AS balance
    FROM ledger_by_day WHERE account_id = $1 GROUP BY day
  ), days AS MATERIALIZED (
    SELECT * FROM opened WHERE day IN (SELECT day FROM page)
  ), passed AS (
    SELECT entry.id, (days.balance + sum(entry.amount_nano_usd) OVER (
        PARTITION BY days.day ORDER BY entry.created_at, entry.id))::bigint AS balance
    FROM days CROSS JOIN LATERAL (
      SELECT id, created_at, amount_nano_usd FROM ledger_entries
      WHERE account_id = $1 AND book = 'credit'
        AND created_at >= days.day::timestamp AT TIME ZONE 'UTC'
        AND created_at < (days.day + 1)::timestamp AT TIME ZONE 'UTC'
    ) AS entry
  )
  SELECT entry.id, entry.key, entry.kind, entry.amount_nano_usd, passed.balance, entry.reason, entry.created_at,
    CASE WHEN $8::integer IS NULL THEN entry.charges
      ELSE jsonb_path_query_array(entry.charges, '$[0 to $last]', jsonb_build_object('last', $8::integer - 1)) END AS charges,
    (SELECT sum((part ->> 2)::bigint)::bigint FROM jsonb_array_elements(entry.charges) AS part) AS requests
  FROM page JOIN passed USING (id) JOIN ledger_entries entry USING (id)
  ORDER BY entry.created_at DESC, entry.id DESC`
