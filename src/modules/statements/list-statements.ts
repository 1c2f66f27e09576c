import type { NanoUsd } from '../../kernel/money.ts'
import type { Page } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'
import { addSums, totalOf, type LedgerSum } from './statement-sums.ts'
import { monthAfter, monthOf, parseMonth, type StatementMonth } from './statement-month.ts'
import type { StatementSummary } from './statement.ts'

export interface StatementsPage {
  readonly limit: number
  /** The list goes on with the month before. Null: from the newest on. */
  readonly after: StatementMonth | null
}

/** From the first movement of the account on. */
const MONTHS_MAX = 1_200

/** Lists the months of an account or a project, newest first, that of today included. */
export async function listStatements(
  queryable: Queryable,
  place: Place,
  { page, nowMs }: { page: StatementsPage; nowMs: number },
): Promise<Page<StatementSummary>> {
  const [sums, closed, marked] = await Promise.all([
    queryable.query<MonthRow>(SUM_MONTHS, [place.accountId]),
    queryable.query<ClosedRow>(CLOSED, [place.accountId]),
    queryable.query<{ month: string }>(`SELECT to_char(month, 'YYYY-MM') AS month FROM closed_months`),
  ])
  const charged = place.projectId === null ? null : await readProjectCharges(queryable, place)
  const numbers = new Map(closed.map(({ month, number }) => [month, Number(number)]))
  const closedMonths = new Set(marked.map(({ month }) => month))
  const rows = Map.groupBy(sums, ({ month }) => month)
  const summaries = eachMonth(sums, nowMs, (month, openingNanoUsd) => {
    const monthSums = addSums(rows.get(month.name) ?? [])
    const closingNanoUsd = openingNanoUsd + totalOf(monthSums)
    const number = numbers.get(month.name) ?? null
    return {
      id: month.name,
      month,
      number,
      isClosed: number !== null || closedMonths.has(month.name),
      chargedNanoUsd: charged === null ? -monthSums.charges : (charged.get(month.name) ?? 0n),
      balance: charged === null ? { openingNanoUsd, sums: monthSums, closingNanoUsd } : null,
      closingNanoUsd,
    }
  }).toReversed()
  const { after, limit } = page
  const behind = after === null ? summaries : summaries.filter(({ id }) => id < after.name)
  return { items: behind.slice(0, limit), total: summaries.length, hasMore: behind.length > limit }
}

function eachMonth<Summary extends { readonly closingNanoUsd: NanoUsd }>(
  sums: readonly MonthRow[],
  nowMs: number,
  summarise: (month: StatementMonth, openingNanoUsd: NanoUsd) => Summary,
): Summary[] {
  const summaries: Summary[] = []
  const last = monthOf(nowMs)
  let month = parseMonth(sums[0]?.month ?? last.name) ?? last
  let openingNanoUsd = 0n
  while (month.fromMs <= last.fromMs && summaries.length < MONTHS_MAX) {
    const summary = summarise(month, openingNanoUsd)
    summaries.push(summary)
    openingNanoUsd = summary.closingNanoUsd
    month = monthAfter(month)
  }
  return summaries
}

interface MonthRow extends LedgerSum {
  readonly month: string
}

interface ClosedRow {
  readonly month: string
  readonly number: bigint
}

const SUM_MONTHS = `
  SELECT to_char(day, 'YYYY-MM') AS month, kind, book, sum(amount_nano_usd)::bigint AS amount
  FROM ledger_by_day WHERE account_id = $1 GROUP BY 1, 2, 3 ORDER BY 1`

const CLOSED = `SELECT to_char(month, 'YYYY-MM') AS month, number FROM statements WHERE account_id = $1`

async function readProjectCharges(queryable: Queryable, place: Place): Promise<ReadonlyMap<string, NanoUsd>> {
  const rows = await queryable.query<{ month: string; amount: bigint }>(SUM_PROJECT, [
    place.accountId,
    place.projectId,
  ])
  return new Map(rows.map(({ month, amount }) => [month, amount]))
}

const SUM_PROJECT = `
  SELECT to_char(day, 'YYYY-MM') AS month, sum(amount_nano_usd)::bigint AS amount
  FROM charges_by_day charge LEFT JOIN api_keys keys ON keys.account_id = charge.account_id AND keys.id = charge.key_id
  WHERE charge.account_id = $1::uuid AND coalesce(keys.project_id, charge.account_id) = $2 GROUP BY 1`

/** Statements of one month of all accounts that have one, in the order of their numbers. Open months are those of today's ledger. */
export interface AccountStatement {
  readonly id: string
  readonly accountName: string
  readonly summary: StatementSummary
}

export interface AccountStatementsQuery {
  readonly month: StatementMonth
  readonly limit: number
  readonly afterId: string | null
}

interface AccountRow {
  readonly account_id: string
  readonly name: string
  readonly number: bigint | null
  readonly opening: bigint
  readonly sums: { kind: string; book: string; amount: string }[] | null
}

export async function listAccountStatements(
  queryable: Queryable,
  { month, limit, afterId }: AccountStatementsQuery,
): Promise<{ readonly items: readonly AccountStatement[]; readonly hasMore: boolean }> {
  const [rows, marked] = await Promise.all([
    queryable.query<AccountRow>(LIST_ACCOUNTS, [
      new Date(month.fromMs).toISOString().slice(0, 10),
      new Date(month.toMs).toISOString().slice(0, 10),
      afterId,
      limit + 1,
    ]),
    queryable.query(`SELECT FROM closed_months WHERE month = $1::date`, [`${month.name}-01`]),
  ])
  const items = rows.slice(0, limit).map((row) => {
    const sums = addSums((row.sums ?? []).map((sum) => ({ ...sum, amount: BigInt(sum.amount) })))
    const summary: StatementSummary = {
      id: month.name,
      month,
      number: row.number === null ? null : Number(row.number),
      isClosed: row.number !== null || marked.length > 0,
      chargedNanoUsd: -sums.charges,
      balance: { openingNanoUsd: row.opening, sums, closingNanoUsd: row.opening + totalOf(sums) },
    }
    return { id: row.account_id, accountName: row.name, summary }
  })
  return { items, hasMore: rows.length > limit }
}

/** The first lateral reads from the last closed month on, so that each account costs a few rows. */
const LIST_ACCOUNTS = `
  SELECT account.id AS account_id, account.name, own.number, opened.opening,
    (SELECT jsonb_agg(jsonb_build_object('kind', kind, 'book', book, 'amount', amount::text)) FROM (
      SELECT kind, book, sum(amount_nano_usd) AS amount FROM ledger_by_day
      WHERE account_id = account.id AND day >= $1::date AND day < $2::date GROUP BY kind, book) AS summed) AS sums
  FROM accounts account
  LEFT JOIN statements own ON own.account_id = account.id AND own.month = $1::date
  CROSS JOIN LATERAL (
    SELECT (coalesce(closed.closing_nano_usd, 0) + coalesce((
        SELECT sum(amount_nano_usd) FROM ledger_by_day
        WHERE account_id = account.id AND day < $1::date AND day >= coalesce(closed.until, '-infinity')), 0))::bigint AS opening
    FROM (SELECT 1) AS one LEFT JOIN LATERAL (
      SELECT closing_nano_usd, (month + interval '1 month')::date AS until FROM statements
      WHERE account_id = account.id AND month < $1::date ORDER BY month DESC LIMIT 1
    ) AS closed ON true
  ) AS opened
  WHERE ($3::uuid IS NULL OR account.id > $3) AND (opened.opening <> 0 OR EXISTS (
    SELECT FROM ledger_by_day WHERE account_id = account.id AND day >= $1::date AND day < $2::date))
  ORDER BY account.id LIMIT $4`
