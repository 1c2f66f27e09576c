import { invalidValue, notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Page } from '../../kernel/page.ts'
import type { Database } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'
import type { QueueStatementWebhook } from './close-months.ts'
import { keepMonthsClosed } from './keep-months-closed.ts'
import {
  listAccountStatements,
  listStatements,
  type AccountStatement,
  type StatementsPage,
} from './list-statements.ts'
import { readStatement } from './read-statement.ts'
import { dayText, parseMonth, type StatementMonth } from './statement-month.ts'
import type { Statement, StatementOperator, StatementSummary } from './statement.ts'
import { walkRows, type StatementRow } from './walk-rows.ts'

export type { AccountStatement } from './list-statements.ts'
export { monthOf, parseMonth, type StatementMonth } from './statement-month.ts'
export { MOVEMENT_KINDS, type MovementKind } from './statement-sums.ts'
export {
  CHARGE_DIMENSIONS,
  numberText,
  type AccountSums,
  type ChargeDimension,
  type Statement,
  type StatementSummary,
} from './statement.ts'
export type { StatementOperator } from './statement.ts'
export type { StatementRow } from './walk-rows.ts'

/** What changed the credit of an account in each month. Closed months are numbered and never change. */
export interface Statements {
  list(place: Place, page: StatementsPage): Promise<Page<StatementSummary>>
  /** Throws `not_found` for a month before the first movement or after today. */
  read(place: Place, month: string): Promise<Statement>
  /** All movements and charges of a statement, in parts. */
  walkRows(place: Place, statement: Statement): AsyncGenerator<readonly StatementRow[], void>
  /** One month of all accounts, by id. */
  listOfAccounts(
    month: StatementMonth,
    page: { readonly limit: number; readonly afterId: string | null },
  ): Promise<{ readonly items: readonly AccountStatement[]; readonly hasMore: boolean }>
  /** For webhooks: the statement of an id. */
  readById(accountId: string, statementId: string): Promise<Statement>
  close(): Promise<void>
}

export interface StatementsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ledger: { postCharges(): Promise<void> }
  readonly logger: Logger
  readonly operator: StatementOperator
  readonly queueWebhook: QueueStatementWebhook
}

export function createStatements(options: StatementsOptions): Statements {
  const { database, clock, ledger, operator } = options
  const stop = keepMonthsClosed(options)
  const read = async (place: Place, name: string): Promise<Statement> => {
    const month = parseMonth(name)
    if (month === null) throw invalidValue('month', 'month must be written as 2026-10.')
    await ledger.postCharges()
    return readStatement(database, place, month, { operator, nowMs: clock.nowMs() })
  }
  return {
    read,
    list: async (place, page) => {
      await ledger.postCharges()
      return listStatements(database, place, { page, nowMs: clock.nowMs() })
    },
    walkRows: (place, statement) => walkRows(database, place, statement),
    listOfAccounts: async (month, page) => {
      await ledger.postCharges()
      return listAccountStatements(database, { month, ...page })
    },
    readById: async (accountId, statementId) => {
      const [row] = await database.query<{ month: Date }>(
        `SELECT month::timestamp AT TIME ZONE 'UTC' AS month FROM statements WHERE id = $1 AND account_id = $2`,
        [statementId, accountId],
      )
      if (row === undefined) throw notFound('statement')
      return read({ accountId, projectId: null }, dayText(row.month.getTime()).slice(0, 'YYYY-MM'.length))
    },
    close: stop,
  }
}
