import type { Clock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { addressesOfMembers } from '../budget-alerts/budget-alerts.ts'

/** Queues the call of a webhook or a mail, in the transaction that raises the warning. */
export type QueueWarning = (
  transaction: Queryable,
  notice: { readonly accountId: string; readonly budgetWarningId: string; readonly url: string },
) => Promise<void>

export interface RaiseOptions {
  readonly database: Database
  readonly clock: Clock
  readonly queueWarning: QueueWarning
  /** Whether there is a server for mail. */
  readonly canMail: boolean
}

const CHECKS_AT_ONCE = 500
const ROUNDS_MAX = 20

/**
 * Compares budgets that were charged with their thresholds, and raises the warnings that are due. The check, the warning and what tells
 * of it are one transaction: whichever process dies, a threshold warns once in a window.
 */
export async function raiseWarnings(options: RaiseOptions): Promise<void> {
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const taken = await options.database.transaction((transaction) => raiseSome(options, transaction))
    if (taken < CHECKS_AT_ONCE) return
  }
}

async function raiseSome(
  { clock, queueWarning, canMail }: RaiseOptions,
  transaction: Queryable,
): Promise<number> {
  const checks = await transaction.query<CheckRow>(TAKE_CHECKS, [CHECKS_AT_ONCE])
  if (checks.length === 0) return 0
  const nowMs = clock.nowMs()
  const due = await transaction.query<DueRow>(DUE, [
    checks.map(({ budget_id: id }) => id),
    checks.map(({ window_start: start }) => start),
    new Date(nowMs),
  ])
  for (const row of due) {
    const budgetWarningId = createId(nowMs)
    const isNew = await insertWarning(transaction, budgetWarningId, row, nowMs)
    if (!isNew) continue
    const url = row.webhook_url
    const emails = canMail ? row.emails.map((email) => `mailto:${email}`) : []
    const urls = [...(url === null ? [] : [url]), ...emails]
    for (const told of urls)
      await queueWarning(transaction, { accountId: row.account_id, budgetWarningId, url: told })
  }
  return checks.length
}

interface CheckRow {
  readonly budget_id: string
  readonly window_start: string
}

const TAKE_CHECKS = `
  DELETE FROM budget_window_checks WHERE id IN (
    SELECT id FROM budget_window_checks ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING budget_id, window_start::text`

interface DueRow {
  readonly id: string
  readonly account_id: string
  readonly window_start: string
  readonly percent: number
  readonly limit_nano_usd: bigint
  readonly spent_nano_usd: bigint
  /** That of the budget, otherwise that of the account. */
  readonly webhook_url: string | null
  /** Members only. */
  readonly emails: string[]
}

/** Each reached threshold that has not warned in its window, in one order in every process. A budget of nothing does not warn. */
const DUE = `
  SELECT checked.*, percent, coalesce(checked.webhook_url, settings.webhook_url) AS webhook_url,
    ${addressesOfMembers('checked.account_id', 'checked.email_recipients')} AS emails
  FROM (
    SELECT DISTINCT id, account_id, asked.window_start::text AS window_start, thresholds_percent, webhook_url, email_recipients,
      limit_nano_usd + CASE WHEN raise_until > $3 THEN raise_nano_usd ELSE 0 END AS limit_nano_usd,
      (SELECT coalesce(sum(spent_nano_usd), 0)::bigint FROM budget_spending
       WHERE budget_id = id AND budget_spending.window_start = asked.window_start) AS spent_nano_usd
    FROM unnest($1::uuid[], $2::date[]) AS asked (budget_id, window_start) JOIN budgets ON id = budget_id
    WHERE deleted_at IS NULL AND is_counted AND limit_nano_usd > 0
  ) AS checked CROSS JOIN LATERAL unnest(thresholds_percent) AS percent
    LEFT JOIN budget_alert_settings settings USING (account_id)
  WHERE spent_nano_usd::numeric * 100 >= checked.limit_nano_usd::numeric * percent
  ORDER BY id, window_start, percent`

/** Returns false if this threshold has warned in this window before. */
async function insertWarning(
  transaction: Queryable,
  id: string,
  row: DueRow,
  nowMs: number,
): Promise<boolean> {
  const rows = await transaction.query(
    `INSERT INTO budget_warnings (id, account_id, budget_id, window_start, threshold_percent, limit_nano_usd, spent_nano_usd, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (budget_id, window_start, threshold_percent) DO NOTHING RETURNING id`,
    [
      id,
      row.account_id,
      row.id,
      row.window_start,
      row.percent,
      row.limit_nano_usd,
      row.spent_nano_usd,
      new Date(nowMs),
    ],
  )
  return rows.length > 0
}
