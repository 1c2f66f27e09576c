import { notFound } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'
import { readAccountSums } from './read-balance.ts'
import { readCharges } from './read-charges.ts'
import { statementFromContent, type StoredStatement } from './statement-content.ts'
import { dayText, monthOf, type StatementMonth } from './statement-month.ts'
import type { Statement, StatementOperator } from './statement.ts'

interface ReadOptions {
  readonly operator: StatementOperator
  readonly nowMs: number
}

/** Reads a month of an account, as it was stored if it is closed, or of a project. Throws `not_found` for a month without any. */
export async function readStatement(
  queryable: Queryable,
  place: Place,
  month: StatementMonth,
  options: ReadOptions,
): Promise<Statement> {
  const stored = await findStored(queryable, place.accountId, month)
  if (stored !== null && place.projectId === null) return stored
  const frame = await readFrame(queryable, place, month, options)
  const isClosed = stored !== null || (await isMonthClosed(queryable, month))
  return {
    ...(await computeStatement(queryable, place, month, frame)),
    number: stored?.number ?? null,
    closedAtMs: stored?.closedAtMs ?? null,
    operator: stored?.operator ?? options.operator,
    isClosed,
  }
}

type Frame = Pick<Statement, 'account' | 'project'>

/** Adds up a month from the ledger. */
export async function computeStatement(
  queryable: Queryable,
  place: Place,
  month: StatementMonth,
  { account, project }: Frame,
): Promise<Pick<Statement, 'month' | 'account' | 'project' | 'charges' | 'balance'>> {
  const balance = project === null ? await readAccountSums(queryable, place.accountId, month) : null
  const charged = balance === null ? null : -balance.sums.charges
  const charges = await readCharges(queryable, place, { month, charged })
  return { month, account, project, charges, balance }
}

async function findStored(
  queryable: Queryable,
  accountId: string,
  month: StatementMonth,
): Promise<Statement | null> {
  const [row] = await queryable.query<StoredStatement>(
    `SELECT account_id, number, opening_nano_usd, closing_nano_usd, content, closed_at FROM statements
     WHERE account_id = $1 AND month = $2::date`,
    [accountId, dayText(month.fromMs)],
  )
  return row === undefined ? null : statementFromContent(row, month)
}

interface FrameRow {
  readonly account_name: string
  readonly project_name: string | null
  readonly first_day: Date | null
}

const READ_FRAME = `
  SELECT account.name AS account_name,
    (SELECT name FROM projects WHERE account_id = account.id AND id = $2) AS project_name,
    (SELECT min(day)::timestamp AT TIME ZONE 'UTC' FROM ledger_by_day WHERE account_id = account.id) AS first_day
  FROM accounts account WHERE account.id = $1`

async function readFrame(
  queryable: Queryable,
  { accountId, projectId }: Place,
  month: StatementMonth,
  { nowMs }: ReadOptions,
): Promise<Frame> {
  const [row] = await queryable.query<FrameRow>(READ_FRAME, [accountId, projectId])
  if (row === undefined) throw notFound('account')
  if (projectId !== null && row.project_name === null) throw notFound('project')
  // The month of today is there also before the first movement.
  const firstMs = monthOf(row.first_day?.getTime() ?? nowMs).fromMs
  if (month.fromMs < firstMs || month.fromMs > nowMs) throw notFound('statement')
  return {
    account: { id: accountId, name: row.account_name },
    project: projectId === null ? null : { id: projectId, name: row.project_name ?? '' },
  }
}

/** For months without a statement of their own, because nothing happened in them. */
async function isMonthClosed(queryable: Queryable, month: StatementMonth): Promise<boolean> {
  const rows = await queryable.query('SELECT FROM closed_months WHERE month = $1::date', [
    dayText(month.fromMs),
  ])
  return rows.length > 0
}
