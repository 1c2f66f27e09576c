import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import {
  usageSeriesQuery,
  usageSpendingQuery,
  type Spending,
  type UsageBucket,
  type UsageSelection,
  type UsageSeries,
} from '../../api/usage.ts'
import { Chart } from '../../ui/data/chart.tsx'
import { downloadCsv } from '../../ui/data/download-csv.ts'
import type { ChartSeries } from '../../ui/data/chart-series.ts'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Skeleton } from '../../ui/feedback/skeleton.tsx'
import { formatShortCount } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button, buttonClass } from '../../ui/forms/button.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { UsageGroups } from './usage-groups.tsx'
import { writeUsageCsv } from './write-usage-csv.ts'

interface UsageOverTimeProps {
  readonly selection: UsageSelection
  readonly view: 'spend' | 'requests' | 'tokens'
}

interface Measure {
  readonly title: string
  readonly read: (bucket: UsageBucket) => number
  readonly format: (value: number) => string
}

const MEASURES: Readonly<Record<UsageOverTimeProps['view'], Measure>> = {
  spend: { title: 'Spend in US dollars', read: ({ cost_usd: costUsd }) => costUsd, format: formatUsd },
  requests: { title: 'Requests', read: ({ requests }) => requests, format: formatShortCount },
  tokens: { title: 'Tokens', read: ({ total_tokens: tokens }) => tokens, format: formatShortCount },
}

/** A chart of stacked bars by group, and what each group comes to. */
export function UsageOverTime({ selection, view }: UsageOverTimeProps) {
  const series = useQuery(usageSeriesQuery(selection))
  const spending = useQuery(usageSpendingQuery(selection))
  const { title, read, format } = MEASURES[view]
  const drawn = useMemo(
    () => (series.data ? toChart(series.data, namesOf(spending.data), read) : null),
    [series.data, spending.data, read],
  )
  const failed = series.error ?? spending.error
  if (failed)
    return (
      <ErrorPanel
        title="Usage could not be loaded"
        error={failed}
        onRetry={() => void Promise.all([series.refetch(), spending.refetch()])}
      />
    )
  if (drawn === null || series.data === undefined || spending.data === undefined)
    return <Skeleton className="h-80 w-full" />
  if (spending.data.requests === 0)
    return (
      <EmptyState
        icon="usage"
        title="Nothing was used in this period"
        action={
          <Link to="/keys" className={buttonClass('primary')}>
            Make a key
          </Link>
        }
      >
        Choose a longer period or other filters, or send a request with a key.
      </EmptyState>
    )
  const { data } = series
  return (
    <div className="flex flex-col gap-6">
      <Section>
        <Chart title={title} {...drawn} kind="bars" formatValue={format} />
      </Section>
      <Section
        title="Groups"
        actions={
          <Button
            icon="download"
            onClick={() =>
              downloadCsv('usage.csv', writeUsageCsv(data, { names: namesOf(spending.data), selection }))
            }
          >
            CSV over time
          </Button>
        }
      >
        <UsageGroups spending={spending.data} />
      </Section>
    </div>
  )
}

/** The name of the group of requests that do not have the tag. */
const WITHOUT_TAG = 'without the tag'

function namesOf(spending: Spending | undefined): ReadonlyMap<string, string> {
  return new Map(spending?.data.map(({ value, name }) => [value, name || WITHOUT_TAG]))
}

function toChart(
  { data, series, other }: UsageSeries,
  names: ReadonlyMap<string, string>,
  read: (bucket: UsageBucket) => number,
): { timesSeconds: number[]; series: ChartSeries[] } {
  const groups = [
    ...series.map(({ value, data: buckets }) => ({
      label: names.get(value) ?? (value || WITHOUT_TAG),
      buckets,
    })),
    ...(other.length > 0 ? [{ label: 'Other', buckets: other }] : []),
  ]
  return {
    timesSeconds: data.map(({ start }) => Date.parse(start) / 1000),
    series: groups.map(({ label, buckets }) => ({ label, values: buckets.map(read) })),
  }
}
