import { createId } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Database } from '../../../storage/database.ts'
import { windowAt } from '../budgets/budget-window.ts'
import {
  bumpBudgetsVersion,
  countEarlierSpending,
  postCharges,
  type Payer,
  type WindowPeriod,
} from '../ledger.ts'
import type { LedgerProcess } from './ledger-stage.ts'

export interface BudgetOrder {
  readonly subject: string
  readonly limitNanoUsd: NanoUsd
  readonly period?: WindowPeriod
  readonly models?: readonly string[]
  readonly isHard?: boolean
  readonly raise?: { readonly amountNanoUsd: NanoUsd; readonly untilMs: number }
}

/** Makes a budget and tells all processes, as the module `budgets` does. Returns its id. */
export async function setBudget(
  { database, ledger }: Pick<LedgerProcess, 'database' | 'ledger'>,
  { accountId }: Payer,
  order: BudgetOrder,
): Promise<string> {
  const id = createId()
  await database.transaction(async (transaction) => {
    const version = await bumpBudgetsVersion(transaction, accountId)
    await transaction.query(INSERT, [
      id,
      accountId,
      order.subject,
      order.models ?? null,
      order.period ?? 'month',
      order.limitNanoUsd,
      order.isHard ?? true,
      version,
      order.raise?.amountNanoUsd ?? null,
      order.raise === undefined ? null : new Date(order.raise.untilMs),
    ])
  })
  await countEarlierSpending(database, id)
  await ledger.announceChange(accountId)
  return id
}

/** What counts in the window of a budget in which a time lies. */
export async function spentInWindow(
  database: Database,
  budgetId: string,
  { period, atMs }: { readonly period: WindowPeriod; readonly atMs: number },
): Promise<NanoUsd> {
  await postCharges(database)
  const [row] = await database.query<{ spent: bigint }>('SELECT spent_under($1) AS spent', [
    `budget:${budgetId}:${windowAt(period, atMs).startDate}`,
  ])
  return row?.spent ?? 0n
}

const INSERT = `
  INSERT INTO budgets (id, account_id, subject, models, period, limit_nano_usd, is_hard, level, thresholds_percent, version,
    raise_nano_usd, raise_until)
  VALUES ($1, $2, $3, $4, $5, $6, $7, 'account', '{80}', $8, $9, $10)`
