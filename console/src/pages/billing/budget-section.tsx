import { useQuery } from '@tanstack/react-query'
import { budgetQuery } from '../../api/account.ts'
import { useReach } from '../../api/permissions.ts'
import type { Schemas } from '../../api/client.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { formatShare } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Icon } from '../../ui/icon.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Figure } from '../../ui/text/figure.tsx'
import { SpendBar } from './spend-bar.tsx'

const DAY_MS = 86_400_000

/** What may still be spent, and how long that lasts. */
export function BudgetSection() {
  const { data, error, refetch } = useQuery(budgetQuery)
  const reach = useReach('usage.read')
  if (error)
    return <ErrorPanel title="The balance could not be loaded" error={error} onRetry={() => void refetch()} />
  const outlook = data?.outlook
  const isSoon =
    data && outlook?.reached_at
      ? Date.parse(outlook.reached_at) - Date.parse(data.updated_at) < DAY_MS
      : false
  const isOfKey = data?.balance_usd === null
  return (
    <Section>
      <div className="flex flex-col gap-6">
        {outlook && isSoon && <LowCredit summary={outlook.summary} />}
        <div className="grid grid-cols-2 gap-6 lg:grid-cols-4">
          {!isOfKey && (
            <Figure
              label="Balance"
              value={data && formatAmount(data.balance_usd)}
              note={isSoon ? undefined : outlook?.summary}
            />
          )}
          <Figure
            label={isOfKey ? `This ${reach} can spend` : 'Can be spent'}
            value={data && formatAmount(data.remaining_usd)}
            note={data && describeHeld(data.held_usd)}
          />
          <Figure
            label="Spent this month (UTC)"
            value={data && formatUsd(data.spent_usd)}
            note={data && describeForecast(data.forecast)}
          />
          <Figure
            label="Rate of the last hour"
            value={data && formatUsd(data.burn_rate_usd_per_hour)}
            unit="an hour"
            note={isOfKey && !isSoon ? outlook?.summary : undefined}
          />
        </div>
        {data && data.budgets.length + data.limiting_budgets.length > 0 && (
          <div className="flex flex-col gap-3 border-t border-line pt-4">
            {data.budgets.map(({ period, limit_usd: limitUsd, spent_usd: spentUsd }) => (
              <SpendBar
                key={period}
                label={period === 'day' ? 'Budget of today (UTC)' : 'Budget of this month (UTC)'}
                spentUsd={spentUsd}
                limitUsd={limitUsd}
              />
            ))}
            {data.limiting_budgets.map(({ id, name, window, spent_usd: spentUsd, limit_usd: limitUsd }) => (
              <SpendBar
                key={id}
                label={`${name}${window === 'total' ? '' : ' (UTC)'}`}
                spentUsd={spentUsd}
                limitUsd={limitUsd}
              />
            ))}
          </div>
        )}
        {data && !isOfKey && data.budgets.length + data.limiting_budgets.length === 0 && (
          <p className="text-xs text-ink-faint">
            No budget is set for this account: only its balance limits what it spends. Whoever runs this
            gateway can set one a day or a month.
          </p>
        )}
      </div>
    </Section>
  )
}

function formatAmount(usd: number | null): string {
  return usd === null ? 'No limit' : formatUsd(usd)
}

function describeHeld(heldUsd: number | null): string {
  if (heldUsd === null) return 'By its own limits, while the account has credit'
  return heldUsd === 0 ? 'By balance and budgets' : `${formatUsd(heldUsd)} of it held for work in progress`
}

type Forecast = Schemas['UsageForecast'] | null

function describeForecast(forecast: Forecast): string {
  if (forecast === null) return 'A forecast needs three whole days of use'
  const { spent_usd: spent, low_usd: low, high_usd: high, confidence } = forecast
  return `Probably ${formatUsd(spent)} at the month’s end; ${formatUsd(low)} to ${formatUsd(high)} with ${formatShare(confidence)} confidence`
}

function LowCredit({ summary }: { readonly summary: string }) {
  return (
    <p role="alert" className="flex items-center gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm">
      <Icon name="warn" className="text-warn" />
      {summary}
    </p>
  )
}
