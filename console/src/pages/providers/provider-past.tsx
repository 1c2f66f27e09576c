import { useQuery } from '@tanstack/react-query'
import { providerHealthQuery, type ProviderHealth } from '../../api/provider-health.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { formatCount, formatShare, formatShortCount } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { describeUptime, HealthStrip } from './health-strip.tsx'

type ModelHealth = ProviderHealth['models'][number]

/** How a provider did for 30 days, and each of its models. */
export function ProviderPast({ name }: { readonly name: string }) {
  const { data, error } = useQuery(providerHealthQuery)
  if (error) return <ErrorPanel title="The last 30 days could not be loaded" error={error} />
  const health = data?.data.find(({ provider }) => provider === name)
  if (health === undefined) return null
  return (
    <section aria-label="The last 30 days" className="flex flex-col gap-3 border-t border-line pt-4">
      <HealthStrip health={health} />
      <DetailsList
        details={{
          'Last 30 days': `${describeUptime(health.uptime)}, ${formatCount(health.calls)} calls`,
          Failed: `${formatCount(health.failures)}${health.error_rate === null ? '' : ` (${formatShare(health.error_rate)})`}`,
          'Refused as too many': health.limited === 0 ? null : formatCount(health.limited),
          Latency: describeSpread(health.latency),
          'Time to first token': describeSpread(health.ttft),
          Throughput:
            health.tokens_per_second === null
              ? null
              : `${health.tokens_per_second} tokens a second in a stream`,
        }}
      />
      <DataTable
        label="Models over 30 days"
        tools={{ id: 'past' }}
        columns={COLUMNS}
        rows={health.models}
        rowId={({ model }) => model}
        heightClass="max-h-72"
      />
    </section>
  )
}

function describeSpread(spread: ProviderHealth['latency']): string | null {
  return spread && `p50 ${formatDuration(spread.p50_ms)}, p95 ${formatDuration(spread.p95_ms)}`
}

const COLUMNS: Column<ModelHealth>[] = [
  {
    id: 'model',
    header: 'Model',
    value: ({ model }) => model,
    render: ({ model }) => <span className="truncate">{model}</span>,
  },
  {
    id: 'calls',
    header: 'Calls',
    value: ({ calls }) => calls,
    width: '80px',
    align: 'right',
    render: ({ calls }) => formatShortCount(calls),
  },
  {
    id: 'failed',
    header: 'Failed',
    value: ({ error_rate: rate }) => rate,
    width: '80px',
    align: 'right',
    render: ({ error_rate: rate }) => (rate === null ? 'none' : formatShare(rate)),
  },
  {
    id: 'ttft',
    header: 'First token',
    value: ({ ttft }) => ttft?.p50_ms,
    width: '104px',
    align: 'right',
    isMinor: true,
    render: ({ ttft }) => (ttft === null ? 'none' : formatDuration(ttft.p50_ms)),
  },
  {
    id: 'speed',
    header: 'Tokens / s',
    value: ({ tokens_per_second: speed }) => speed,
    width: '96px',
    align: 'right',
    isMinor: true,
    render: ({ tokens_per_second: speed }) => speed ?? 'none',
  },
]
