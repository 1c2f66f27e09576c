import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { usageLatencyQuery, type UsageSelection } from '../../api/usage.ts'
import { Chart } from '../../ui/data/chart.tsx'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Skeleton } from '../../ui/feedback/skeleton.tsx'
import { formatCount } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { Section } from '../../ui/layout/section.tsx'

interface Percentiles {
  readonly p50_ms: number
  readonly p90_ms: number
  readonly p95_ms: number
  readonly p99_ms: number
}

interface Row {
  readonly value: string
  readonly requests: number
  readonly latency: Percentiles | null
  readonly ttft: Percentiles | null
}

const LINES = { p50_ms: 'p50', p95_ms: 'p95', p99_ms: 'p99' } as const
type Line = keyof typeof LINES
const NAMES: readonly Line[] = ['p50_ms', 'p95_ms', 'p99_ms']

/** How long requests took: the share of them that was faster. */
export function UsageLatency({ selection }: { readonly selection: UsageSelection }) {
  const { data, error, refetch } = useQuery(usageLatencyQuery(selection))
  const drawn = useMemo(() => {
    if (data === undefined) return null
    const lines = (of: 'latency' | 'ttft') =>
      NAMES.map((name) => ({
        label: LINES[name],
        values: data.data.map((bucket) => bucket[of]?.[name] ?? null),
      }))
    return {
      timesSeconds: data.data.map(({ start }) => Date.parse(start) / 1000),
      latency: lines('latency'),
      ttft: lines('ttft'),
    }
  }, [data])
  if (error)
    return <ErrorPanel title="Latency could not be loaded" error={error} onRetry={() => void refetch()} />
  if (data === undefined || drawn === null) return <Skeleton className="h-80 w-full" />
  if (data.requests === 0)
    return (
      <EmptyState icon="clock" title="Nothing was measured in this period">
        Completed requests are measured. Choose a longer period or other filters.
      </EmptyState>
    )
  const { timesSeconds } = drawn
  return (
    <div className="flex flex-col gap-6">
      <Section>
        <Chart
          title="Latency from the request to the end of its answer"
          timesSeconds={timesSeconds}
          series={drawn.latency}
          formatValue={formatDuration}
        />
      </Section>
      {data.ttft !== null && (
        <Section>
          <Chart
            title="Time to the first token of streams"
            timesSeconds={timesSeconds}
            series={drawn.ttft}
            formatValue={formatDuration}
          />
        </Section>
      )}
      <Section title="Groups">
        <DataTable
          label="Latency by group"
          tools={{ id: 'latency' }}
          columns={COLUMNS}
          rows={[{ ...data, value: 'All' }, ...data.series]}
          rowId={({ value }) => value}
          heightClass="max-h-96"
        />
      </Section>
    </div>
  )
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'name',
    header: 'Name',
    value: ({ value }) => value,
    render: ({ value }) => <span className="font-medium">{value}</span>,
  },
  {
    id: 'requests',
    header: 'Requests',
    value: ({ requests }) => requests,
    width: '104px',
    align: 'right',
    render: ({ requests }) => formatCount(requests),
  },
  ...NAMES.map((name): Column<Row> => ({
    id: name,
    header: LINES[name],
    value: ({ latency }) => latency?.[name],
    width: '104px',
    align: 'right',
    isMinor: name === 'p99_ms',
    render: ({ latency }) => (latency === null ? 'none' : formatDuration(latency[name])),
  })),
  {
    id: 'ttft',
    header: 'First token, p50',
    value: ({ ttft }) => ttft?.p50_ms,
    width: '136px',
    align: 'right',
    isMinor: true,
    render: ({ ttft }) => (ttft === null ? 'none' : formatDuration(ttft.p50_ms)),
  },
]
