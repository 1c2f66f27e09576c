import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import { windowAt, type WindowPeriod } from './budget-window.ts'

/** A budget that requests of its subject have to fit into, whatever their model, and what counts in its present window. */
export interface LimitingBudget {
  readonly id: string
  readonly subject: string
  readonly period: WindowPeriod
  /** With the raise, if there is one now. */
  readonly limitNanoUsd: NanoUsd
  readonly spentNanoUsd: NanoUsd
  /** Null for a budget of all time. */
  readonly resetsAtMs: number | null
}

/** Reads the hard budgets for all models of these subjects, oldest first. A subject has a bounded number of budgets. */
export async function readLimitingBudgets(
  queryable: Queryable,
  { accountId, subjects, nowMs }: { accountId: string; subjects: readonly string[]; nowMs: number },
): Promise<LimitingBudget[]> {
  const rows = await queryable.query<LimitingBudgetRow>(
    `SELECT id, subject, period, limit_nano_usd + CASE WHEN raise_until > $3 THEN coalesce(raise_nano_usd, 0) ELSE 0 END AS limit_now,
       coalesce((SELECT sum(spent_nano_usd) FROM budget_spending
         WHERE budget_id = budgets.id AND window_start = budget_window(period, $3)), 0)::bigint AS spent
     FROM budgets
     WHERE account_id = $1 AND subject = ANY ($2::text[]) AND deleted_at IS NULL AND is_hard AND is_counted AND models IS NULL
     ORDER BY id`,
    [accountId, subjects, new Date(nowMs)],
  )
  return rows.map((row) => {
    const { endMs } = windowAt(row.period, nowMs)
    return {
      id: row.id,
      subject: row.subject,
      period: row.period,
      limitNanoUsd: row.limit_now,
      spentNanoUsd: row.spent,
      resetsAtMs: Number.isFinite(endMs) ? endMs : null,
    }
  })
}

interface LimitingBudgetRow {
  readonly id: string
  readonly subject: string
  readonly period: WindowPeriod
  readonly limit_now: bigint
  readonly spent: bigint
}
