import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'
import { addSums, kindOfMovement, totalOf, type LedgerSum } from './statement-sums.ts'
import { dayText, type StatementMonth } from './statement-month.ts'
import type { AccountSums, StatementMovement } from './statement.ts'

/** Of a statement. The file with all rows has the others. */
const MOVEMENTS_MAX = 500

/** Reads how the balance of an account changed in a month. */
export async function readAccountSums(
  queryable: Queryable,
  accountId: string,
  month: StatementMonth,
): Promise<AccountSums> {
  // One after the other, because it may be one transaction.
  const rows = await queryable.query<LedgerSum>(SUM_MONTH, [
    accountId,
    dayText(month.fromMs),
    dayText(month.toMs),
  ])
  const openingNanoUsd = await readOpening(queryable, accountId, month)
  const movements = await readMovements(queryable, accountId, {
    ...month,
    limit: MOVEMENTS_MAX + 1,
    after: null,
  })
  const sums = addSums(rows)
  return {
    openingNanoUsd,
    sums,
    closingNanoUsd: openingNanoUsd + totalOf(sums),
    movements: movements.slice(0, MOVEMENTS_MAX).map(withoutPosition),
    hasMoreMovements: movements.length > MOVEMENTS_MAX,
  }
}

const SUM_MONTH = `
  SELECT kind, book, sum(amount_nano_usd)::bigint AS amount FROM ledger_by_day
  WHERE account_id = $1 AND day >= $2::date AND day < $3::date GROUP BY kind, book`

function withoutPosition({ atMs, kind, amountNanoUsd, reason }: PlacedMovement): StatementMovement {
  return { atMs, kind, amountNanoUsd, reason }
}

/** The closing balance of the last closed month, and what came after it. */
async function readOpening(
  queryable: Queryable,
  accountId: string,
  { fromMs }: StatementMonth,
): Promise<NanoUsd> {
  const [row] = await queryable.query<{ opening: bigint }>(READ_OPENING, [accountId, dayText(fromMs)])
  return row?.opening ?? 0n
}

const READ_OPENING = `
  WITH closed AS (
    SELECT closing_nano_usd, (month + interval '1 month')::date AS until FROM statements
    WHERE account_id = $1 AND month < $2::date ORDER BY month DESC LIMIT 1
  )
  SELECT (coalesce((SELECT closing_nano_usd FROM closed), 0) + coalesce((
    SELECT sum(amount_nano_usd) FROM ledger_by_day
    WHERE account_id = $1 AND day < $2::date AND day >= coalesce((SELECT until FROM closed), '-infinity')), 0))::bigint AS opening`

export interface MovementsQuery {
  readonly fromMs: number
  readonly toMs: number
  readonly limit: number
  /** The movement that the page begins behind. */
  readonly after: MovementPosition | null
}

export interface MovementPosition {
  readonly atText: string
  readonly id: string
}

export interface PlacedMovement extends StatementMovement {
  readonly position: MovementPosition
}

interface MovementRow {
  readonly id: bigint
  readonly at_text: string
  readonly created_at: Date
  readonly kind: string
  readonly book: string
  readonly amount: bigint
  readonly reason: string | null
}

/** Movements that are no charges, in their order. */
export async function readMovements(
  queryable: Queryable,
  accountId: string,
  { fromMs, toMs, limit, after }: MovementsQuery,
): Promise<PlacedMovement[]> {
  const rows = await queryable.query<MovementRow>(READ_MOVEMENTS, [
    accountId,
    new Date(fromMs),
    new Date(toMs),
    limit,
    after?.atText ?? null,
    after?.id ?? null,
  ])
  return rows.map((row) => ({
    atMs: row.created_at.getTime(),
    kind: kindOfMovement(row.kind, row.book),
    amountNanoUsd: row.amount,
    reason: row.reason,
    position: { atText: row.at_text, id: String(row.id) },
  }))
}

/** The position has the time as text, because a Date has no microseconds. */
const READ_MOVEMENTS = `
  SELECT entry.id, entry.created_at, entry.created_at::text AS at_text, entry.kind, other.book, entry.amount_nano_usd AS amount, entry.reason
  FROM ledger_entries entry
  JOIN ledger_entries other ON other.key = entry.key AND other.book <> 'credit' AND other.kind <> 'charge'
  WHERE entry.account_id = $1 AND entry.book = 'credit' AND entry.kind <> 'charge'
    AND entry.created_at >= $2 AND entry.created_at < $3
    AND ($5::timestamptz IS NULL OR (entry.created_at, entry.id) > ($5::timestamptz, $6::bigint))
  ORDER BY entry.created_at, entry.id LIMIT $4`
