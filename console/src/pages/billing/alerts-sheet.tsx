import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { describeFailure } from '../../api/api-error.ts'
import {
  alertSettingsQuery,
  budgetAlertsQuery,
  changeAlertSettings,
  type BudgetAlert,
  type BudgetAlertSettings,
} from '../../api/budget-alerts.ts'
import { usePermissions } from '../../api/permissions.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField, type Choice } from '../../ui/forms/select-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'
import { Time } from '../../ui/text/time.tsx'

interface AlertsSheetProps {
  readonly onClose: () => void
}

/** When budgets raise an alert, and the alerts so far. */
export function AlertsSheet({ onClose }: AlertsSheetProps) {
  const alerts = useInfiniteQuery(budgetAlertsQuery())
  return (
    <Sheet title="Budget alerts" isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-6">
        <SettingsView />
        <PagedTable
          label="Budget alerts"
          tools={{ id: 'alerts' }}
          query={alerts}
          columns={COLUMNS}
          rowId={({ id }) => id}
          empty={
            <EmptyState icon="warn" title="No alert yet">
              Each threshold raises one alert in a day or month of UTC.
            </EmptyState>
          }
        />
      </div>
    </Sheet>
  )
}

function SettingsView() {
  const { data, error, refetch } = useQuery(alertSettingsQuery)
  if (error)
    return (
      <ErrorPanel
        title="The settings of alerts could not be loaded"
        error={error}
        onRetry={() => void refetch()}
      />
    )
  return data ? <SettingsForm settings={data} /> : <SkeletonRows count={2} />
}

function SettingsForm({ settings }: { readonly settings: BudgetAlertSettings }) {
  const queryClient = useQueryClient()
  const canChange = usePermissions()('budgets.manage')
  const saved = {
    thresholds: settings.thresholds_percent.join(', '),
    webhookUrl: settings.webhook_url ?? '',
    webhookForm: settings.webhook_form,
    alertEmails: settings.alert_emails.join(', '),
    emails: settings.statement_emails.join(', '),
  }
  const [thresholds, setThresholds] = useState(saved.thresholds)
  const [webhookUrl, setWebhookUrl] = useState(saved.webhookUrl)
  const [webhookForm, setWebhookForm] = useState(saved.webhookForm)
  const [alertEmails, setAlertEmails] = useState(saved.alertEmails)
  const [emails, setEmails] = useState(saved.emails)
  const update = useMutation({
    mutationFn: () =>
      changeAlertSettings({
        thresholds_percent: numbersOf(thresholds),
        webhook_url: webhookUrl.trim() === '' ? null : webhookUrl.trim(),
        webhook_form: webhookForm,
        alert_emails: wordsOf(alertEmails),
        statement_emails: wordsOf(emails),
      }),
    onSuccess: async (changed) => {
      setThresholds(changed.thresholds_percent.join(', '))
      setAlertEmails(changed.alert_emails.join(', '))
      setEmails(changed.statement_emails.join(', '))
      showToast('The alerts are set')
      await queryClient.invalidateQueries({ queryKey: ['budget-alerts'] })
    },
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    update.mutate()
  }
  const written = { thresholds, webhookUrl, webhookForm, alertEmails, emails }
  const isSame = JSON.stringify(written) === JSON.stringify(saved)
  return (
    <form onSubmit={submit}>
      <fieldset disabled={!canChange} className="flex min-w-0 flex-col gap-4">
        <TextField
          label="Thresholds in percent"
          placeholder="No alerts"
          inputMode="numeric"
          pattern="[0-9, ]*"
          hint="Of the budget of a day or a month."
          value={thresholds}
          onChange={setThresholds}
        />
        <TextField
          label="Webhook"
          type="url"
          placeholder="https://example.com/hook"
          hint="Called for alerts, unusual days, automatic top-ups and closed statements. Leave it empty for none."
          value={webhookUrl}
          onChange={setWebhookUrl}
        />
        <SelectField
          label="What it gets"
          choices={WEBHOOK_FORMS}
          value={webhookForm}
          onChange={setWebhookForm}
        />
        <TextField
          label="Alerts by e-mail"
          placeholder="ops@example.com"
          inputMode="email"
          hint="Who gets alerts, unusual days and automatic top-ups: addresses of members, divided by commas."
          value={alertEmails}
          onChange={setAlertEmails}
        />
        <TextField
          label="Statements by e-mail"
          placeholder="books@example.com"
          inputMode="email"
          hint="Who gets the statement of each month with its PDF: addresses of members, divided by commas."
          value={emails}
          onChange={setEmails}
          error={update.error && describeFailure(update.error).message}
        />
        {canChange ? (
          <div className="flex justify-end">
            <Button kind="primary" type="submit" isBusy={update.isPending} disabled={isSame}>
              Save alerts
            </Button>
          </div>
        ) : (
          <p className="text-xs text-ink-faint">Those who manage budgets change this.</p>
        )}
      </fieldset>
    </form>
  )
}

const WEBHOOK_FORMS: readonly Choice<BudgetAlertSettings['webhook_form']>[] = [
  { value: 'parkway', label: 'Our signed event' },
  { value: 'slack', label: 'A message for Slack' },
  { value: 'teams', label: 'A message for Microsoft Teams' },
]

/** Numbers that are divided by commas or spaces. */
function numbersOf(text: string): number[] {
  return wordsOf(text).map(Number)
}

function wordsOf(text: string): string[] {
  return text.split(/[, ]+/).filter((word) => word !== '')
}

const COLUMNS: readonly Column<BudgetAlert>[] = [
  {
    id: 'time',
    header: 'Time',
    value: ({ created_at: at }) => at,
    width: '128px',
    render: ({ created_at: at }) => <Time at={at} form="short" />,
  },
  {
    id: 'period',
    header: 'Period',
    value: ({ period_start: start }) => start,
    render: ({ period, period_start: start }) =>
      period === 'day' ? start : start.slice(0, 'YYYY-MM'.length),
  },
  {
    id: 'threshold',
    header: 'Threshold',
    value: ({ threshold_percent: percent }) => percent,
    width: '96px',
    align: 'right',
    render: ({ threshold_percent: percent }) => `${percent} %`,
  },
  {
    id: 'spent',
    header: 'Spent',
    value: ({ spent_usd: usd }) => usd,
    width: '112px',
    align: 'right',
    isMinor: true,
    render: ({ spent_usd: spentUsd }) => formatUsd(spentUsd),
  },
  {
    id: 'limit',
    header: 'Budget',
    value: ({ limit_usd: usd }) => usd,
    width: '112px',
    align: 'right',
    isMinor: true,
    render: ({ limit_usd: limitUsd }) => formatUsd(limitUsd),
  },
]
