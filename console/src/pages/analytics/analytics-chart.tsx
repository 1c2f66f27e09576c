import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { analyticsSeriesQuery, type AnalyticsSelection, type AnalyticsSeries } from '../../api/analytics.ts'
import { Chart } from '../../ui/data/chart.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Skeleton } from '../../ui/feedback/skeleton.tsx'
import { formatShortCount } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Section } from '../../ui/layout/section.tsx'
import type { AnalyticsView } from './analytics-search.ts'

type Bucket = AnalyticsSeries['data'][number]

interface Measure {
  readonly title: string
  readonly read: (bucket: Bucket) => number
  readonly format: (value: number) => string
}

const MEASURES: Readonly<Record<AnalyticsView, Measure>> = {
  spend: { title: 'Spend in US dollars', read: ({ cost_usd: costUsd }) => costUsd, format: formatUsd },
  requests: { title: 'Requests', read: ({ requests }) => requests, format: formatShortCount },
  tokens: { title: 'Tokens', read: ({ total_tokens: tokens }) => tokens, format: formatShortCount },
}

interface AnalyticsChartProps {
  readonly selection: AnalyticsSelection
  readonly view: AnalyticsView
}

/** Stacked bars of the dearest groups. */
export function AnalyticsChart({ selection, view }: AnalyticsChartProps) {
  const { data, error, refetch } = useQuery(analyticsSeriesQuery(selection))
  const { title, read, format } = MEASURES[view]
  const drawn = useMemo(() => (data ? toChart(data, read) : null), [data, read])
  if (error)
    return <ErrorPanel title="The chart could not be loaded" error={error} onRetry={() => void refetch()} />
  if (drawn === null) return <Skeleton className="h-80 w-full" />
  return (
    <Section>
      <Chart title={title} {...drawn} kind="bars" formatValue={format} />
    </Section>
  )
}

function toChart({ data, series, other }: AnalyticsSeries, read: (bucket: Bucket) => number) {
  const groups = [
    ...series.map(({ name, data: buckets }) => ({ label: name || 'none', buckets })),
    ...(other.length > 0 ? [{ label: 'Other', buckets: other }] : []),
  ]
  return {
    timesSeconds: data.map(({ start }) => Date.parse(start) / 1000),
    series: groups.map(({ label, buckets }) => ({ label, values: buckets.map(read) })),
  }
}
