import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { formatUsd, usdFromNanoUsd } from '../../../kernel/money.ts'
import { WEBHOOK_FORMS } from '../../../kernel/webhook-form.ts'
import {
  EMAILS_MAX,
  THRESHOLDS_MAX,
  type AlertSettings,
  type BudgetAlert,
  type BudgetAlerts,
} from '../../../modules/budget-alerts/budget-alerts.ts'
import { AccountId, CreatedAt, UuidId, objectName } from '../../../wires/usual-members.ts'
import { maskWebhook } from '../../answers/mask-webhook.ts'
import { listAnswer, ListQuery, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { inAccount } from '../../access.ts'
import { EmailAddress } from '../organization/budget-wire.ts'
import { accountAddress, toAddressForm } from './alert-forms.ts'
import { defineRoute, type Route } from '../../route.ts'

const URL_LENGTH_MAX = 2_048

const AlertAnswer = Type.Object(
  {
    id: UuidId,
    object: objectName('budget_alert'),
    period: Type.Enum(['day', 'month'], { description: 'The budget that it is about.' }),
    period_start: Type.String({ format: 'date', description: 'The first day of the period, in UTC.' }),
    threshold_percent: Type.Integer({ description: 'The part of the budget that was reached.' }),
    limit_usd: Type.Number({ description: 'The budget at that time.' }),
    spent_usd: Type.Number({ description: 'What was spent of it at that time.' }),
    created_at: CreatedAt,
  },
  { title: 'BudgetAlert' },
)

const FORMS =
  'What the webhook gets: `parkway` is our own event; `slack` and `teams` are messages for an incoming webhook there.'

const SettingsAnswer = Type.Object(
  {
    object: objectName('budget_alert_settings'),
    tenant_id: AccountId,
    thresholds_percent: Type.Array(Type.Integer(), {
      description: 'Parts of a budget that raise an alert, rising. Empty for no alerts.',
    }),
    webhook_url: Type.Union([Type.String(), Type.Null()], {
      description:
        'Called for each alert, for unusual days, for automatic top-ups, and for each statement that is closed. Without `budgets.manage` only its host is shown.',
    }),
    webhook_form: Type.Enum([...WEBHOOK_FORMS], { description: FORMS }),
    alert_emails: Type.Array(Type.String(), {
      description: 'Who gets alerts, unusual days and automatic top-ups by mail.',
    }),
    statement_emails: Type.Array(Type.String(), { description: 'Who gets closed statements by mail.' }),
  },
  { title: 'BudgetAlertSettings' },
)

// Unknown members are refused, so that a misspelt threshold is not ignored.
const SettingsBody = Type.Object(
  {
    thresholds_percent: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
        maxItems: THRESHOLDS_MAX,
        description: 'Parts of a budget that raise an alert. Empty for no alerts; absent leaves them.',
      }),
    ),
    webhook_url: Type.Optional(
      Type.Union([Type.String({ maxLength: URL_LENGTH_MAX }), Type.Null()], {
        description: 'An address that is called for each alert. Null for none; absent leaves it.',
      }),
    ),
    webhook_form: Type.Optional(Type.Enum([...WEBHOOK_FORMS], { description: `${FORMS} Absent leaves it.` })),
    alert_emails: Type.Optional(
      Type.Array(EmailAddress, {
        maxItems: EMAILS_MAX,
        uniqueItems: true,
        description:
          'Who gets alerts, unusual days and automatic top-ups by mail: addresses of members of the account. Needs a mail server of the operator. Absent leaves them.',
      }),
    ),
    statement_emails: Type.Optional(
      Type.Array(EmailAddress, {
        maxItems: EMAILS_MAX,
        uniqueItems: true,
        description:
          'Who gets closed statements by mail, with the PDF: addresses of members of the account. Needs a mail server of the operator. Absent leaves them.',
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ thresholds_percent: [50, 80, 95], webhook_url: 'https://example.com/hook' }],
  },
)

/** Alerts of the account's budgets. */
export const budgetAlertRoutes = ({ budgetAlerts }: { budgetAlerts: BudgetAlerts }): Route[] => [
  defineRoute({
    method: 'GET',
    tag: 'Usage',
    path: '/v1/budget-alerts',
    access: inAccount('usage.read'),
    summary: 'List the budget alerts of the account',
    query: ListQuery,
    responses: { 200: { description: 'Newest first.', schema: listSchema('alerts', AlertAnswer) } },
    handle: async ({ caller, query }) =>
      listAnswer('alerts', await budgetAlerts.list(caller.accountId, parsePageRequest(query)), alertToWire),
  }),
  defineRoute({
    method: 'GET',
    tag: 'Usage',
    path: '/v1/budget-alerts/settings',
    access: inAccount('usage.read'),
    summary: 'Read when budgets raise an alert',
    responses: { 200: { description: 'The thresholds and the webhook.', schema: SettingsAnswer } },
    handle: async ({ caller: { accountId, permissions } }) => {
      const settings = settingsToWire(accountId, await budgetAlerts.readSettings(accountId))
      if (settings.webhook_url === null || permissions.has('budgets.manage')) return settings
      return { ...settings, webhook_url: maskWebhook(settings.webhook_url) }
    },
  }),
  defineRoute({
    method: 'PATCH',
    tag: 'Usage',
    path: '/v1/budget-alerts/settings',
    access: inAccount('budgets.manage'),
    summary: 'Set when budgets raise an alert',
    body: SettingsBody,
    responses: { 200: { description: 'The settings as they now are.', schema: SettingsAnswer } },
    handle: async ({ caller: { accountId }, body }) => {
      const { thresholds_percent: thresholdsPercent, webhook_url: webhookUrl } = body
      const { statement_emails: statementEmails, alert_emails: alertEmails } = body
      const { webhook_form: webhookForm } = body
      const settings = await budgetAlerts.changeSettings(accountId, {
        ...(thresholdsPercent !== undefined && { thresholdsPercent }),
        ...(webhookUrl !== undefined && { webhookUrl }),
        ...(webhookForm !== undefined && { webhookForm }),
        ...(alertEmails !== undefined && { alertEmails }),
        ...(statementEmails !== undefined && { statementEmails }),
      })
      return settingsToWire(accountId, settings)
    },
  }),
]

/** What an address gets for an alert. */
export function alertToAddress(alert: BudgetAlert, url: string, settings: AlertSettings): object {
  const { period, thresholdPercent, limitNanoUsd, spentNanoUsd, createdAtMs } = alert
  const name = period === 'day' ? 'daily' : 'monthly'
  const subject = `${thresholdPercent} % of the ${name} budget of the account is spent`
  const text =
    `${subject}: ${formatUsd(spentNanoUsd)} of ${formatUsd(limitNanoUsd)} USD since ${alert.periodStart} (UTC). ` +
    'Requests that do not fit into the rest are refused.'
  const event = { type: 'budget.alert', timestamp: toTimestamp(createdAtMs), data: alertToWire(alert) }
  return toAddressForm({ subject, text, event }, accountAddress(url, settings))
}

function alertToWire(alert: BudgetAlert): Static<typeof AlertAnswer> {
  return {
    id: alert.id,
    object: 'budget_alert',
    period: alert.period,
    period_start: alert.periodStart,
    threshold_percent: alert.thresholdPercent,
    limit_usd: usdFromNanoUsd(alert.limitNanoUsd),
    spent_usd: usdFromNanoUsd(alert.spentNanoUsd),
    created_at: toTimestamp(alert.createdAtMs),
  }
}

function settingsToWire(accountId: string, settings: AlertSettings): Static<typeof SettingsAnswer> {
  return {
    object: 'budget_alert_settings',
    tenant_id: accountId,
    thresholds_percent: [...settings.thresholdsPercent],
    webhook_url: settings.webhookUrl,
    webhook_form: settings.webhookForm,
    alert_emails: [...settings.alertEmails],
    statement_emails: [...settings.statementEmails],
  }
}
