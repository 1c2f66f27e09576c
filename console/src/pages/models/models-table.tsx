import { Link } from '@tanstack/react-router'
import { MODEL_KINDS, type Model } from '../../api/model-kinds.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { formatShortCount } from '../../ui/format/format-count.ts'
import { formatPrice, formatShortPrice } from '../../ui/format/format-price.ts'
import { Badge } from '../../ui/text/badge.tsx'

const COLUMNS: readonly Column<Model>[] = [
  {
    id: 'name',
    value: ({ id }) => id,
    header: 'Model',
    width: '24%',
    render: ({ id, display_name }) => (
      <Link
        to="/models/$modelId"
        params={{ modelId: id }}
        className="font-medium hover:text-accent hover:underline"
      >
        {display_name}{' '}
        <span className="ml-1 font-mono text-xs font-normal text-ink-faint max-sm:hidden">{id}</span>
      </Link>
    ),
  },
  {
    id: 'vendor',
    value: ({ vendor }) => vendor,
    header: 'Vendor',
    width: '104px',
    isMinor: true,
    render: ({ vendor }) => vendor,
  },
  {
    id: 'kind',
    value: ({ category }) => MODEL_KINDS[category],
    header: 'Kind',
    width: '108px',
    isMinor: true,
    render: ({ category }) => MODEL_KINDS[category],
  },
  {
    id: 'context',
    value: ({ context_tokens: tokens }) => tokens,
    header: 'Context, tokens',
    width: '124px',
    align: 'right',
    isMinor: true,
    render: ({ context_tokens }) =>
      context_tokens === null ? (
        <span className="text-ink-faint">none</span>
      ) : (
        formatShortCount(context_tokens)
      ),
  },
  {
    id: 'price',
    value: formatPrice,
    header: 'Price',
    width: '22%',
    render: (model) => (
      <>
        <span className="max-md:hidden">{formatPrice(model)}</span>
        <span className="md:hidden" title={formatPrice(model)}>
          {formatShortPrice(model)}
        </span>
      </>
    ),
  },
  {
    id: 'capabilities',
    value: ({ capabilities }) => capabilities.join(' '),
    header: 'Can',
    isMinor: true,
    render: ({ capabilities }) => capabilities.map((tag) => tag.replaceAll('_', ' ')).join(', '),
  },
  {
    id: 'ready',
    value: ({ is_ready: isReady }) => (isReady ? 'ready' : 'not ready'),
    header: 'State',
    width: '96px',
    render: ({ is_ready, not_ready_reason, provider, ...model }) =>
      isEnding(model) ? (
        <span title={describeEnd(model)}>
          <Badge tone="warn">deprecated</Badge>
        </span>
      ) : is_ready ? (
        <Badge tone={provider === 'sandbox' ? 'plain' : 'good'}>
          {provider === 'sandbox' ? 'sandbox' : 'ready'}
        </Badge>
      ) : (
        <span title={not_ready_reason ?? undefined}>
          <Badge tone="warn">not ready</Badge>
        </span>
      ),
  },
]

type Ending = Pick<Model, 'deprecated_from' | 'shutdown_date' | 'successor'>

function isEnding({ deprecated_from: from }: Ending): boolean {
  return from !== null && Date.parse(from) <= Date.now()
}

function describeEnd({ shutdown_date: end, successor }: Ending): string {
  const when = end === null ? 'Its end is not known yet.' : `It ends on ${end.slice(0, 10)}.`
  return successor === null ? when : `${when} Use ${successor} instead.`
}

export function ModelsTable({ models }: { readonly models: readonly Model[] }) {
  return (
    <DataTable
      label="Models"
      tools={{ id: 'models' }}
      columns={COLUMNS}
      rows={models}
      rowId={({ id }) => id}
      heightClass="max-h-[calc(100dvh-220px)] min-h-80"
    />
  )
}
