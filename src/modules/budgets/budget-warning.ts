import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { WebhookForm } from '../../kernel/webhook-form.ts'
import { ID_AFTER_ALL, openPage, type OpenPage, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { parseSubject, type Subject, type WindowPeriod } from '../ledger/ledger.ts'

/** A part of a budget is spent. */
export interface BudgetWarning {
  readonly id: string
  readonly budgetId: string
  readonly subject: Subject
  readonly period: WindowPeriod
  /** The first day of the window, in UTC. */
  readonly windowStart: string
  readonly thresholdPercent: number
  /** As they were when the warning was raised. */
  readonly limitNanoUsd: NanoUsd
  readonly spentNanoUsd: NanoUsd
  readonly isHard: boolean
  /** The form of the budget's own webhook. */
  readonly webhook: { readonly url: string; readonly form: WebhookForm } | null
  readonly emailSubjectPrefix: string | null
  readonly createdAtMs: number
}

export async function listWarnings(
  queryable: Queryable,
  budgetId: string,
  { limit, afterId }: PageRequest,
): Promise<OpenPage<BudgetWarning>> {
  const rows = await queryable.query<WarningRow>(
    `${SELECT} WHERE warning.budget_id = $1 AND warning.id < $2 ORDER BY warning.id DESC LIMIT $3`,
    [budgetId, afterId ?? ID_AFTER_ALL, limit + 1],
  )
  return openPage(rows.map(warningFromRow), limit)
}

export async function readWarning(
  queryable: Queryable,
  accountId: string,
  warningId: string,
): Promise<BudgetWarning> {
  const [row] = isUuid(warningId)
    ? await queryable.query<WarningRow>(`${SELECT} WHERE warning.id = $1 AND warning.account_id = $2`, [
        warningId,
        accountId,
      ])
    : []
  if (row === undefined) throw notFound('budget alert')
  return warningFromRow(row)
}

interface WarningRow {
  readonly id: string
  readonly budget_id: string
  readonly subject: string
  readonly period: WindowPeriod
  readonly window_start: string
  readonly threshold_percent: number
  readonly limit_nano_usd: bigint
  readonly spent_nano_usd: bigint
  readonly is_hard: boolean
  readonly webhook_url: string | null
  readonly webhook_form: WebhookForm | null
  readonly email_subject_prefix: string | null
  readonly created_at: Date
}

const SELECT = `
  SELECT warning.id, budget_id, subject, period, window_start::text, threshold_percent, warning.limit_nano_usd, spent_nano_usd,
    is_hard, webhook_url, webhook_form, email_subject_prefix, warning.created_at
  FROM budget_warnings warning JOIN budgets ON budgets.id = budget_id`

function warningFromRow(row: WarningRow): BudgetWarning {
  const { webhook_url: url, webhook_form: form } = row
  return {
    id: row.id,
    budgetId: row.budget_id,
    subject: parseSubject(row.subject),
    period: row.period,
    windowStart: row.window_start,
    thresholdPercent: row.threshold_percent,
    limitNanoUsd: row.limit_nano_usd,
    spentNanoUsd: row.spent_nano_usd,
    isHard: row.is_hard,
    webhook: url === null || form === null ? null : { url, form },
    emailSubjectPrefix: row.email_subject_prefix,
    createdAtMs: row.created_at.getTime(),
  }
}
