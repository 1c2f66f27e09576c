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

/** A page of entries. Its total is counted up to `COUNTED_MAX`. */
export interface EntryPage extends Page<LedgerEntry> {
  /** False if there are more than the total says. */
  readonly isTotalExact: boolean
}

/** So that a page costs the same however long the list is. */
const COUNTED_MAX = 10_000

/** Of an entry in a list. What is beyond is one part without a key and a model. */
const CHARGES_LISTED_MAX = 20

export async function listEntries(
  queryable: Queryable,
  accountId: string,
  page: PageRequest,
  filter: EntryFilter = {},
): Promise<EntryPage> {
  const [{ items: heads, hasMore }, [row]] = await Promise.all([
    readHeads(queryable, accountId, { page, filter }),
    queryable.query<{ total: bigint }>(countUpTo(filter), [
      accountId,
      ...filterValues(filter),
      COUNTED_MAX + 1,
    ]),
  ])
  const items = await addCharges(queryable, accountId, { heads, chargesMax: CHARGES_LISTED_MAX })
  const counted = Number(row?.total ?? 0)
  return { items, total: Math.min(counted, COUNTED_MAX), isTotalExact: counted <= COUNTED_MAX, hasMore }
}

/** Each read adds up whole days, so that a file reads few times. */
const HEADS_AT_ONCE = 2_000
/** An entry may have thousands of parts, so that those of few entries are in memory at once. */
const WALKED_AT_ONCE = 100
const PARTS_AT_ONCE = 2_000

/** Walks over all entries with all their parts, newest first, some at a time. */
export async function* walkEntries(
  queryable: Queryable,
  accountId: string,
  filter: EntryFilter,
): AsyncGenerator<readonly LedgerEntry[], void> {
  let afterId: string | null = null
  for (;;) {
    const page: OpenPage<EntryRow> = await readHeads(queryable, accountId, {
      page: { limit: HEADS_AT_ONCE, afterId },
      filter,
    })
    for (const heads of divide(page.items))
      yield addCharges(queryable, accountId, { heads, chargesMax: null })
    const last = page.items.at(-1)
    if (!page.hasMore || last === undefined) return
    afterId = String(last.id)
  }
}

function divide(heads: readonly EntryRow[]): EntryRow[][] {
  const pieces: EntryRow[][] = []
  let piece: EntryRow[] = []
  let parts = 0
  for (const head of heads) {
    parts += head.parts
    if (piece.length > 0 && (piece.length === WALKED_AT_ONCE || parts > PARTS_AT_ONCE)) {
      pieces.push(piece)
      piece = []
      parts = head.parts
    }
    piece.push(head)
  }
  return [...pieces, piece]
}

interface EntriesQuery {
  readonly page: PageRequest
  readonly filter: EntryFilter
}

async function readHeads(
  queryable: Queryable,
  accountId: string,
  { page: { limit, afterId }, filter }: EntriesQuery,
): Promise<OpenPage<EntryRow>> {
  const after = afterId === null ? AFTER_ALL : await findPosition(queryable, accountId, afterId)
  if (after === null) return { items: [], hasMore: false }
  const values = [accountId, ...filterValues(filter), after.at, after.id, limit + 1]
  return openPage(await queryable.query<EntryRow>(readPage(filter), values), limit)
}

async function addCharges(
  queryable: Queryable,
  accountId: string,
  { heads, chargesMax }: { readonly heads: readonly EntryRow[]; readonly chargesMax: number | null },
): Promise<LedgerEntry[]> {
  const ids = heads.filter(({ parts }) => parts > 0).map(({ id }) => id)
  const rows = ids.length === 0 ? [] : await queryable.query<ChargesRow>(READ_CHARGES, [ids, chargesMax])
  const names = await readChargeNames(
    queryable,
    accountId,
    rows.flatMap(({ charges }) => charges),
  )
  const charged = new Map(rows.map((row) => [row.id, chargesFromRow(row, names)]))
  return heads.map((head) => ({ ...entryFromRow(head), charges: charged.get(head.id) ?? null }))
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
  /** How many a charge has. */
  readonly parts: number
  readonly created_at: Date
}

interface ChargesRow {
  readonly id: bigint
  readonly amount_nano_usd: bigint
  readonly charges: readonly StoredCharge[]
  readonly requests: bigint
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

/** Movements other than charges are few among many charges: their own index finds them. */
const isAsked = ({ kind }: EntryFilter): string =>
  kind === undefined || kind === 'charge' ? IS_ASKED : `${IS_ASKED} AND kind <> 'charge'`

const countUpTo = (filter: EntryFilter): string =>
  `SELECT count(*) AS total FROM (SELECT FROM ledger_entries WHERE ${isAsked(filter)} LIMIT $5) AS counted`

/**
 * The order is that of the days of statements. The balance after an entry is what the account had at the beginning of its day, and the
 * entries of the day up to it, so that a page reads the entries of its days and no others.
 */
const readPage = (filter: EntryFilter): string => `
  WITH page AS MATERIALIZED (
    SELECT id, (created_at AT TIME ZONE 'UTC')::date AS day FROM ledger_entries
    WHERE ${isAsked(filter)} AND (created_at, id) < ($5::timestamptz, $6::bigint)
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
    coalesce(jsonb_array_length(entry.charges), 0) AS parts
  FROM page JOIN passed USING (id) JOIN ledger_entries entry USING (id)
  ORDER BY entry.created_at DESC, entry.id DESC`

/** The parts of charges, the dearest only, and of how many requests all parts are. Entries never change. */
const READ_CHARGES = `
  SELECT id, amount_nano_usd,
    CASE WHEN $2::integer IS NULL THEN charges
      ELSE jsonb_path_query_array(charges, '$[0 to $last]', jsonb_build_object('last', $2::integer - 1)) END AS charges,
    (SELECT sum((part ->> 2)::bigint)::bigint FROM jsonb_array_elements(charges) AS part) AS requests
  FROM ledger_entries WHERE id = ANY ($1::bigint[])`
