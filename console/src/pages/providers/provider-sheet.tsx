import { useMutation } from '@tanstack/react-query'
import { Permitted } from '../../ui/permitted.tsx'
import { testProvider, type ProviderStatus } from '../../api/operator.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { formatCount } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { Button } from '../../ui/forms/button.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { LimitedKeys } from './limited-keys.tsx'
import { ManageProvider } from './manage-provider.tsx'
import { ProviderPast } from './provider-past.tsx'
import { TestResult } from './test-result.tsx'

interface ProviderSheetProps {
  readonly provider: ProviderStatus
  readonly onClose: () => void
}

/** One provider: what it lacks, a test call, and its models with routes and prices. */
export function ProviderSheet({ provider, onClose }: ProviderSheetProps) {
  const p95 = provider.recent.latency_ms.p95
  return (
    <Sheet title={provider.id} isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-6">
        <DetailsList
          details={{
            Configured: provider.is_configured ? 'yes' : 'no',
            Missing: provider.missing.length === 0 ? null : <Code text={provider.missing.join(', ')} />,
            'Set in': provider.source === null ? null : SOURCES[provider.source],
            Vendor: provider.vendor === provider.id ? null : provider.vendor,
            Problem: provider.problem,
            Host: provider.base_url_host,
            Headers: provider.headers.join(', ') || null,
            Proxy: provider.proxy?.url ?? null,
            'Own certificate authority': provider.certificate_authority === null ? null : 'trusted',
            'Regions that the vendor promises': provider.regions.join(', ') || null,
            'Retention that the vendor promises': describeRetention(provider.retention_days),
            Keys: provider.is_configured ? formatCount(provider.keys) : null,
            Operations: provider.operations.join(', ') || null,
            'Last 5 minutes': `${formatCount(provider.recent.requests)} calls, ${formatCount(provider.recent.errors)} failed`,
            'Latency, p95': p95 === null ? null : formatDuration(p95),
          }}
        />
        <ProviderPast name={provider.id} />
        <Permitted permission="gateway.manage">
          {provider.is_configured && <TestCall name={provider.id} />}
          {provider.source === 'database' && <ManageProvider provider={provider} onRemoved={onClose} />}
        </Permitted>
        {provider.limited_keys.length > 0 && <LimitedKeys keys={provider.limited_keys} />}
        {provider.models.length > 0 && (
          <DataTable
            label="Models of the provider"
            tools={{ id: 'routes' }}
            columns={MODEL_COLUMNS}
            rows={provider.models}
            rowId={({ model, upstream_model: upstream }) => `${model} ${upstream}`}
            heightClass="max-h-96"
          />
        )}
      </div>
    </Sheet>
  )
}

const SOURCES = {
  file: 'the environment or the configuration file',
  database: 'this page or the API',
} as const

function describeRetention(days: number | null): string | null {
  if (days === null) return null
  return days === 0 ? 'nothing is kept' : `at most ${formatCount(days)} days`
}

function Code({ text }: { readonly text: string }) {
  return <span className="font-mono text-xs">{text}</span>
}

/** Sends the smallest real request, and says how it went. */
function TestCall({ name }: { readonly name: string }) {
  const test = useMutation({ mutationFn: () => testProvider(name) })
  return (
    <div className="flex flex-col gap-3 border-t border-line pt-4">
      <div className="flex items-center justify-between gap-3">
        <p className="text-sm text-ink-soft">The smallest real request. No account is charged for it.</p>
        <Button icon="bolt" isBusy={test.isPending} onClick={() => test.mutate()}>
          Test call
        </Button>
      </div>
      {test.error && <ErrorPanel title="The test could not be made" error={test.error} />}
      {test.data && (
        <div role="status">
          <TestResult test={test.data} />
        </div>
      )}
    </div>
  )
}

const MODEL_COLUMNS: readonly Column<ProviderStatus['models'][number]>[] = [
  {
    id: 'model',
    header: 'Model',
    value: ({ model }) => model,
    render: ({ model }) => <span className="font-medium">{model}</span>,
  },
  {
    id: 'route',
    header: 'Priority · weight',
    value: ({ priority, weight }) => `${priority} · ${weight}`,
    width: '120px',
    render: ({ priority, weight }) => `${priority} · ${weight}`,
  },
  {
    id: 'price',
    header: 'Price from',
    value: ({ price_file: file }) => file,
    width: '120px',
    render: ({ price_file: file }) => <span title={file}>{file.split('/').at(-1)}</span>,
  },
  {
    id: 'breaker',
    header: 'Breaker',
    value: ({ breaker }) => breaker.state,
    width: '96px',
    render: ({ breaker }) => (
      <Badge tone={breaker.state === 'closed' ? 'good' : 'bad'}>{breaker.state}</Badge>
    ),
  },
]
