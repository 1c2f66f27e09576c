import type { Clock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { addressesOf, DEFAULT_THRESHOLDS_PERCENT } from './alert-settings.ts'
import { addressesOfMembers } from './member-addresses.ts'

/** Queues the call of a webhook or a mail, in the transaction that raises the alert. */
export type QueueAlertWebhook = (
  transaction: Queryable,
  webhook: { readonly accountId: string; readonly budgetAlertId: string; readonly url: string },
) => Promise<void>

interface RaiseOptions {
  readonly database: Database
  readonly clock: Clock
  readonly queueWebhook: QueueAlertWebhook
  /** Whether there is a server for mail. */
  readonly canMail: boolean
}

const CHECKS_AT_ONCE = 500
const ROUNDS_MAX = 20

/**
 * Checks the budgets of accounts that have spent, and raises the alerts that are due. The check, the alert and its webhook are one
 * transaction: whichever process dies, an alert is raised once.
 */
export async function raiseDueAlerts(options: RaiseOptions): Promise<void> {
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const taken = await options.database.transaction((transaction) => raiseSome(options, transaction))
    if (taken < CHECKS_AT_ONCE) return
  }
}

async function raiseSome(
  { clock, queueWebhook, canMail }: RaiseOptions,
  transaction: Queryable,
): Promise<number> {
  const checks = await transaction.query<CheckRow>(TAKE_CHECKS, [CHECKS_AT_ONCE])
  if (checks.length === 0) return 0
  const budgets = await transaction.query<BudgetRow>(READ_BUDGETS, [
    checks.map(({ account_id: accountId }) => accountId),
    checks.map(({ day }) => day),
  ])
  // In one order in every process, so that two never wait for each other.
  for (const budget of budgets) {
    for (const thresholdPercent of budget.thresholds ?? DEFAULT_THRESHOLDS_PERCENT) {
      if (!isReached(budget, thresholdPercent)) continue
      const id = createId(clock.nowMs())
      const isNew = await insertAlert(transaction, { ...budget, id, thresholdPercent, nowMs: clock.nowMs() })
      if (!isNew) continue
      const { account_id: accountId, webhook_url: webhookUrl, alert_emails: alertEmails } = budget
      for (const url of addressesOf({ webhookUrl, alertEmails: alertEmails ?? [] }, canMail))
        await queueWebhook(transaction, { accountId, budgetAlertId: id, url })
    }
  }
  return checks.length
}

interface CheckRow {
  readonly account_id: string
  readonly day: string
}

const TAKE_CHECKS = `
  DELETE FROM budget_checks WHERE id IN (
    SELECT id FROM budget_checks ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING account_id, day::text`

interface BudgetRow {
  readonly account_id: string
  readonly period: 'day' | 'month'
  readonly period_start: string
  readonly limit_nano_usd: bigint
  readonly spent_nano_usd: bigint
  /** Null for an account that has set nothing. */
  readonly thresholds: number[] | null
  readonly webhook_url: string | null
  readonly alert_emails: string[] | null
}

/** The budgets of the accounts in the periods of the days, with what is spent. A budget of nothing raises no alert. */
const READ_BUDGETS = `
  SELECT account_id, period, period_start::text, limit_nano_usd, thresholds_percent AS thresholds, webhook_url,
    ${addressesOfMembers('account_id', 'alert_emails')} AS alert_emails,
    spent_under(concat_ws(':', period, account_id,
      to_char(period_start, CASE period WHEN 'day' THEN 'YYYY-MM-DD' ELSE 'YYYY-MM' END))) AS spent_nano_usd
  FROM (
    SELECT DISTINCT account_id, period, limit_nano_usd, date_trunc(period, day::timestamp)::date AS period_start
    FROM unnest($1::uuid[], $2::date[]) AS checked (account_id, day) JOIN spend_budgets USING (account_id)
    WHERE limit_nano_usd > 0
  ) AS budget LEFT JOIN budget_alert_settings USING (account_id)
  ORDER BY account_id, period, period_start`

function isReached({ limit_nano_usd: limit, spent_nano_usd: spent }: BudgetRow, percent: number): boolean {
  return spent * 100n >= limit * BigInt(percent)
}

interface NewAlert extends BudgetRow {
  readonly id: string
  readonly thresholdPercent: number
  readonly nowMs: number
}

/** Returns false if this threshold has raised its alert in this period before. */
async function insertAlert(transaction: Queryable, alert: NewAlert): Promise<boolean> {
  const rows = await transaction.query(
    `INSERT INTO budget_alerts (id, account_id, period, period_start, threshold_percent, limit_nano_usd, spent_nano_usd,
       created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (account_id, period, period_start, threshold_percent) DO NOTHING RETURNING id`,
    [
      alert.id,
      alert.account_id,
      alert.period,
      alert.period_start,
      alert.thresholdPercent,
      alert.limit_nano_usd,
      alert.spent_nano_usd,
      new Date(alert.nowMs),
    ],
  )
  return rows.length > 0
}
