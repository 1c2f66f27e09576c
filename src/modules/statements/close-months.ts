import { createId } from '../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { wholeAccount } from '../../storage/place.ts'
import { computeStatement } from './read-statement.ts'
import { contentOf } from './statement-content.ts'
import { dayText, monthAfter, monthOf, type StatementMonth } from './statement-month.ts'
import type { Statement, StatementOperator } from './statement.ts'

/** A month is closed so long after its end at the earliest. */
const CLOSES_AFTER_MS = 15 * 60_000
/** Of one transaction, which keeps others from giving numbers. */
const ACCOUNTS_AT_ONCE = 25
const TOLD_WITHIN_MS = 28 * 86_400_000
/** Of one call. The next one goes on. */
const BATCHES_MAX = 10_000

/** Tells an account that its month is closed, in the transaction that closes it. */
export type QueueStatementWebhook = (
  transaction: Queryable,
  webhook: { readonly accountId: string; readonly statementId: string },
) => Promise<void>

export interface CloseOptions {
  readonly database: Database
  readonly operator: StatementOperator
  readonly queueWebhook: QueueStatementWebhook
  readonly nowMs: number
  readonly isStopped?: () => boolean
}

/**
 * Closes the months that have ended, the earliest first: each account that had a movement or a balance gets a statement with a number.
 * A charge belongs to the month of its ledger entry, so nothing can be added once the transactions of that month have ended.
 * Any process may do it at any time, also several, and may be killed. Returns how many statements were made.
 */
export async function closeMonths(options: CloseOptions): Promise<number> {
  const { database, nowMs, isStopped = () => false } = options
  const last = monthOf(nowMs - CLOSES_AFTER_MS)
  let made = 0
  let batches = 0
  let month = await findFirstOpen(database)
  while (month !== null && month.toMs <= last.fromMs) {
    if (await isStillWritten(database, month)) return made
    const closing = month
    for (;;) {
      if (isStopped() || batches++ >= BATCHES_MAX) return made
      const count = await database.transaction((transaction) => closeSome(transaction, closing, options))
      made += count
      if (count < ACCOUNTS_AT_ONCE) break
    }
    await database.query(MARK, [dayText(month.fromMs), new Date(nowMs)])
    month = monthAfter(month)
  }
  return made
}

const MARK =
  'INSERT INTO closed_months (month, closed_at) VALUES ($1::date, $2) ON CONFLICT (month) DO NOTHING'

/** Null before the first movement of all. */
async function findFirstOpen(queryable: Queryable): Promise<StatementMonth | null> {
  const [row] = await queryable.query<{ first: Date | null }>(
    `SELECT coalesce(
       (SELECT max(month) + interval '1 month' FROM closed_months), (SELECT min(day)::timestamp FROM ledger_by_day)
     ) AT TIME ZONE 'UTC' AS first`,
  )
  return row?.first ? monthOf(row.first.getTime()) : null
}

/** Whether a transaction that began before the end of the month still runs. Its entries would have the time of its beginning. */
async function isStillWritten(queryable: Queryable, { toMs }: StatementMonth): Promise<boolean> {
  const rows = await queryable.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < $1
       AND backend_type = 'client backend' LIMIT 1`,
    [new Date(toMs)],
  )
  return rows.length > 0
}

async function closeSome(
  transaction: Queryable,
  month: StatementMonth,
  { operator, queueWebhook, nowMs }: CloseOptions,
): Promise<number> {
  // Before accounts are looked for, so that what another process closes is seen.
  const [counter] = await transaction.query<{ last_number: bigint }>(
    'SELECT last_number FROM statement_numbers FOR UPDATE',
  )
  if (counter === undefined) throw new Error('the number of the last statement is missing')
  const accounts = await transaction.query<{ account_id: string; name: string }>(UNCLOSED, [
    dayText(month.fromMs),
    dayText(month.toMs),
    ACCOUNTS_AT_ONCE,
  ])
  let number = counter.last_number
  for (const { account_id: id, name } of accounts) {
    number += 1n
    const frame = { account: { id, name }, project: null }
    const computed = await computeStatement(transaction, wholeAccount(id), month, frame)
    const statementId = await store(
      transaction,
      { ...computed, number: Number(number), closedAtMs: nowMs, isClosed: true, operator },
      nowMs,
    )
    // Months of long ago are closed when a gateway is updated; nobody waits for them.
    if (nowMs - month.toMs < TOLD_WITHIN_MS) await queueWebhook(transaction, { accountId: id, statementId })
  }
  if (accounts.length > 0) await transaction.query('UPDATE statement_numbers SET last_number = $1', [number])
  return accounts.length
}

/** Accounts with a movement in the month, and those whose statement of the month before ends with a balance. */
const UNCLOSED = `
  SELECT account_id, coalesce(accounts.name, '') AS name
  FROM (
    SELECT DISTINCT account_id FROM ledger_by_day WHERE day >= $1::date AND day < $2::date
    UNION SELECT account_id FROM statements WHERE month = $1::date - interval '1 month' AND closing_nano_usd <> 0
  ) AS due LEFT JOIN accounts ON accounts.id = due.account_id
  WHERE NOT EXISTS (SELECT FROM statements WHERE statements.account_id = due.account_id AND month = $1::date)
  ORDER BY account_id LIMIT $3`

async function store(transaction: Queryable, statement: Statement, nowMs: number): Promise<string> {
  const { account, balance, month, number } = statement
  if (balance === null) throw new TypeError('a statement of a project is not stored')
  const id = createId(nowMs)
  await transaction.query(
    `INSERT INTO statements (id, account_id, month, number, opening_nano_usd, closing_nano_usd, content, closed_at)
     VALUES ($1, $2, $3::date, $4, $5, $6, $7::jsonb, $8)`,
    [
      id,
      account.id,
      dayText(month.fromMs),
      number,
      balance.openingNanoUsd,
      balance.closingNanoUsd,
      contentOf(statement),
      new Date(nowMs),
    ],
  )
  return id
}
