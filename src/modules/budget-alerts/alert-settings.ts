import type { WebhookForm } from '../../kernel/webhook-form.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { addressesOfMembers } from './member-addresses.ts'

export interface AlertSettings {
  /** Rising, in percent of a budget. Empty for no alerts. */
  readonly thresholdsPercent: readonly number[]
  /** Null if nobody is called. Alerts can be read all the same. */
  readonly webhookUrl: string | null
  readonly webhookForm: WebhookForm
  /** Who gets alerts by mail. */
  readonly alertEmails: readonly string[]
  /** Who gets closed statements by mail. */
  readonly statementEmails: readonly string[]
}

/** For accounts that have set nothing. Below 100, because requests are refused before a budget is fully spent. */
export const DEFAULT_THRESHOLDS_PERCENT: readonly number[] = [80, 95]

interface SettingsRow {
  readonly thresholds_percent: number[]
  readonly webhook_url: string | null
  readonly webhook_form: WebhookForm
  readonly alert_emails: string[]
  readonly statement_emails: string[]
}

export async function readAlertSettings(queryable: Queryable, accountId: string): Promise<AlertSettings> {
  const [row] = await queryable.query<SettingsRow>(
    `SELECT thresholds_percent, webhook_url, webhook_form, alert_emails, statement_emails
     FROM budget_alert_settings WHERE account_id = $1`,
    [accountId],
  )
  if (row === undefined) return NO_SETTINGS
  return {
    thresholdsPercent: row.thresholds_percent,
    webhookUrl: row.webhook_url,
    webhookForm: row.webhook_form,
    alertEmails: row.alert_emails,
    statementEmails: row.statement_emails,
  }
}

/** Who gets closed statements by mail: addresses that still belong to members. */
export async function listStatementEmails(queryable: Queryable, accountId: string): Promise<string[]> {
  const [row] = await queryable.query<{ emails: string[] }>(
    `SELECT ${addressesOfMembers('account_id', 'statement_emails')} AS emails
     FROM budget_alert_settings WHERE account_id = $1`,
    [accountId],
  )
  return row?.emails ?? []
}

/** Where an account is told of alerts: its webhook, and addresses of members if there is a server for mail. */
export async function listAlertAddresses(
  queryable: Queryable,
  accountId: string,
  canMail: boolean,
): Promise<string[]> {
  const [row] = await queryable.query<{ webhook_url: string | null; emails: string[] }>(
    `SELECT webhook_url, ${addressesOfMembers('account_id', 'alert_emails')} AS emails
     FROM budget_alert_settings WHERE account_id = $1`,
    [accountId],
  )
  return addressesOf({ webhookUrl: row?.webhook_url ?? null, alertEmails: row?.emails ?? [] }, canMail)
}

export function addressesOf(
  { webhookUrl, alertEmails }: Pick<AlertSettings, 'webhookUrl' | 'alertEmails'>,
  canMail: boolean,
): string[] {
  const emails = canMail ? alertEmails.map((email) => `mailto:${email}`) : []
  return webhookUrl === null ? emails : [webhookUrl, ...emails]
}

const NO_SETTINGS: AlertSettings = {
  thresholdsPercent: DEFAULT_THRESHOLDS_PERCENT,
  webhookUrl: null,
  webhookForm: 'parkway',
  alertEmails: [],
  statementEmails: [],
}

/** Changes the settings and has the budgets checked against them. */
export async function changeAlertSettings(
  database: Database,
  accountId: string,
  changes: Partial<AlertSettings>,
  nowMs: number,
): Promise<AlertSettings> {
  return database.transaction(async (transaction) => {
    // Two changes at once must not undo each other.
    await transaction.query('SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [accountId])
    const next = { ...(await readAlertSettings(transaction, accountId)), ...changes }
    await transaction.query(WRITE, [
      accountId,
      next.thresholdsPercent,
      next.webhookUrl,
      next.webhookForm,
      next.alertEmails,
      next.statementEmails,
    ])
    await transaction.query('INSERT INTO budget_checks (account_id, day) VALUES ($1, $2::date)', [
      accountId,
      new Date(nowMs).toISOString().slice(0, 'YYYY-MM-DD'.length),
    ])
    return next
  })
}

const WRITE = `
  INSERT INTO budget_alert_settings (account_id, thresholds_percent, webhook_url, webhook_form, alert_emails, statement_emails)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (account_id) DO UPDATE SET thresholds_percent = excluded.thresholds_percent,
    webhook_url = excluded.webhook_url, webhook_form = excluded.webhook_form, alert_emails = excluded.alert_emails, statement_emails = excluded.statement_emails, updated_at = now()`
