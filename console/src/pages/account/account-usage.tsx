import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { ACCOUNT_USAGE_PERIODS, accountUsageQuery } from '../../api/accounts.ts'
import type { UsageBucket, UsageSeries } from '../../api/usage.ts'
import { Chart } from '../../ui/data/chart.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Skeleton } from '../../ui/feedback/skeleton.tsx'
import { formatCount, formatShortCount } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { SegmentedControl } from '../../ui/forms/segmented-control.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Figure } from '../../ui/text/figure.tsx'

const route = getRouteApi('/shell/accounts/$id')

const PERIODS = ACCOUNT_USAGE_PERIODS.map((period) => ({ value: period, label: period }))

/** What an account spent and asked for over time, by model. */
export function AccountUsage({ id }: { readonly id: string }) {
  const { period = '30d' } = route.useSearch()
  const navigate = route.useNavigate()
  const usage = useQuery(accountUsageQuery(id, period))
  return (
    <div className="flex flex-col gap-4">
      <div className="flex justify-end">
        <SegmentedControl
          label="Period"
          value={period}
          choices={PERIODS}
          onChange={(chosen) =>
            void navigate({ search: (old) => ({ ...old, period: chosen }), replace: true })
          }
        />
      </div>
      {usage.error && (
        <ErrorPanel
          title="Usage could not be loaded"
          error={usage.error}
          onRetry={() => void usage.refetch()}
        />
      )}
      {usage.isPending && <Skeleton className="h-80 w-full" />}
      {usage.data && <UsageCharts usage={usage.data} />}
    </div>
  )
}

function UsageCharts({ usage }: { readonly usage: UsageSeries }) {
  const spend = useMemo(() => toChart(usage, ({ cost_usd: costUsd }) => costUsd), [usage])
  const requests = useMemo(() => toChart(usage, (bucket) => bucket.requests), [usage])
  const sum = (read: (bucket: UsageBucket) => number): number =>
    usage.data.reduce((total, bucket) => total + read(bucket), 0)
  if (sum((bucket) => bucket.requests) === 0)
    return (
      <EmptyState icon="usage" title="Nothing was used in this period">
        Choose a longer period.
      </EmptyState>
    )
  return (
    <Section>
      <div className="flex flex-col gap-6">
        <div className="grid grid-cols-2 gap-6 lg:grid-cols-4">
          <Figure label="Spent" value={formatUsd(sum(({ cost_usd: costUsd }) => costUsd))} />
          <Figure label="Requests" value={formatCount(sum((bucket) => bucket.requests))} />
          <Figure label="Tokens" value={formatShortCount(sum(({ total_tokens: tokens }) => tokens))} />
          <Figure label="Models" value={formatCount(usage.series.length)} />
        </div>
        <Chart title="Spend in US dollars" {...spend} kind="bars" formatValue={formatUsd} />
        <Chart title="Requests" {...requests} kind="bars" formatValue={formatShortCount} />
      </div>
    </Section>
  )
}

function toChart({ data, series, other }: UsageSeries, read: (bucket: UsageBucket) => number) {
  const groups = [
    ...series.map(({ value, data: buckets }) => ({ label: value, buckets })),
    ...(other.length > 0 ? [{ label: 'Other', buckets: other }] : []),
  ]
  return {
    timesSeconds: data.map(({ start }) => Date.parse(start) / 1000),
    series: groups.map(({ label, buckets }) => ({ label, values: buckets.map(read) })),
  }
}
