import type { NanoUsd } from '../../kernel/money.ts'
import type { WebhookForm } from '../../kernel/webhook-form.ts'
import { parseSubject, windowAt, type Subject, type WindowPeriod } from '../ledger/ledger.ts'

/** Who may change a budget: whoever manages the account, whoever manages its project, or the person that it is about. */
export type BudgetLevel = 'account' | 'project' | 'personal'

export interface BudgetRaise {
  readonly amountNanoUsd: NanoUsd
  readonly untilMs: number
}

/** Whom the alerts of a budget tell. */
export interface BudgetNotice {
  /** Parts of the limit that raise an alert, rising. */
  readonly thresholdsPercent: readonly number[]
  readonly webhook: { readonly url: string; readonly form: WebhookForm } | null
  readonly emailRecipients: readonly string[]
  readonly emailSubjectPrefix: string | null
}

export interface Budget extends BudgetNotice {
  readonly id: string
  readonly subject: Subject
  /** Null counts every model. */
  readonly models: readonly string[] | null
  readonly period: WindowPeriod
  readonly limitNanoUsd: NanoUsd
  readonly isHard: boolean
  readonly level: BudgetLevel
  /** The project whose owners may see it. */
  readonly projectId: string | null
  /** Null also after its end. */
  readonly raise: BudgetRaise | null
  readonly spentNanoUsd: NanoUsd
  readonly windowStartMs: number
  /** Null for a budget of all time. */
  readonly resetsAtMs: number | null
  readonly createdAtMs: number
  readonly createdByUserId: string | null
  readonly createdByKeyId: string | null
}

export interface BudgetRow {
  readonly id: string
  readonly subject: string
  readonly models: string[] | null
  readonly period: WindowPeriod
  readonly limit_nano_usd: bigint
  readonly is_hard: boolean
  readonly level: BudgetLevel
  readonly project_id: string | null
  readonly raise_nano_usd: bigint | null
  readonly raise_until: Date | null
  readonly thresholds_percent: number[]
  readonly webhook_url: string | null
  readonly webhook_form: WebhookForm | null
  readonly email_recipients: string[]
  readonly email_subject_prefix: string | null
  readonly created_at: Date
  readonly created_by_user_id: string | null
  readonly created_by_key_id: string | null
  readonly spent: bigint
}

/** @param at the parameter with the present time */
export const budgetColumns = (
  at: string,
): string => `id, subject, models, period, limit_nano_usd, is_hard, level, project_id,
  raise_nano_usd, raise_until, thresholds_percent, webhook_url, webhook_form, email_recipients, email_subject_prefix, created_at,
  created_by_user_id, created_by_key_id, coalesce((
    SELECT sum(spent_nano_usd) FROM budget_spending
    WHERE budget_id = budgets.id AND window_start = budget_window(period, ${at})), 0)::bigint AS spent`

export function budgetFromRow(row: BudgetRow, nowMs: number): Budget {
  const { startMs, endMs } = windowAt(row.period, nowMs)
  const { raise_nano_usd: raise, raise_until: until, webhook_url: url, webhook_form: form } = row
  return {
    id: row.id,
    subject: parseSubject(row.subject),
    models: row.models,
    period: row.period,
    limitNanoUsd: row.limit_nano_usd,
    isHard: row.is_hard,
    level: row.level,
    projectId: row.project_id,
    raise:
      raise === null || until === null || until.getTime() <= nowMs
        ? null
        : { amountNanoUsd: raise, untilMs: until.getTime() },
    thresholdsPercent: row.thresholds_percent,
    webhook: url === null || form === null ? null : { url, form },
    emailRecipients: row.email_recipients,
    emailSubjectPrefix: row.email_subject_prefix,
    spentNanoUsd: row.spent,
    windowStartMs: startMs,
    resetsAtMs: Number.isFinite(endMs) ? endMs : null,
    createdAtMs: row.created_at.getTime(),
    createdByUserId: row.created_by_user_id,
    createdByKeyId: row.created_by_key_id,
  }
}

/** What may be spent now: with the raise, if there is one. */
export function limitNow({ limitNanoUsd, raise }: Pick<Budget, 'limitNanoUsd' | 'raise'>): NanoUsd {
  return limitNanoUsd + (raise?.amountNanoUsd ?? 0n)
}
