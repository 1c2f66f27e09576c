import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { deprecationKeysQuery, type Deprecation, type DeprecationKey } from '../../api/deprecations.ts'
import type { UseDays } from '../../api/use-days.ts'
import { EndingState } from '../../deprecations/end-of-model.tsx'
import type { Column } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatCount, formatShortCount } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { Time } from '../../ui/text/time.tsx'

interface DeprecationSheetProps {
  readonly model: Deprecation
  readonly days: UseDays
  readonly onClose: () => void
}

/** One model that ends: when, what comes after it, and every key that still uses it. */
export function DeprecationSheet({ model, days, onClose }: DeprecationSheetProps) {
  const keys = useInfiniteQuery(deprecationKeysQuery(model.id, days))
  return (
    <Sheet title={model.name} isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-6">
        <DetailsList
          details={{
            Model: <CopyableId id={model.id} label="id of the model" />,
            State: <EndingState model={model} />,
            Deprecated:
              model.deprecated_from === null ? null : <Time at={model.deprecated_from} form="short" />,
            Ends: model.shutdown_at === null ? 'not known' : <Time at={model.shutdown_at} form="short" />,
            'Use instead':
              model.successor === null ? (
                'no model is named'
              ) : (
                <CopyableId id={model.successor} label="id of the successor" />
              ),
            'After its end': model.successor_answers
              ? 'the successor answers, at its own price'
              : 'requests are refused, and the message names the successor',
            'Set in':
              model.source === 'file' ? 'the catalog or its file' : 'the page Models and prices, or the API',
            Requests: `${formatCount(model.requests)} in the last ${days} days`,
            Tokens: formatCount(model.total_tokens),
            Spend: formatUsd(model.cost_usd),
          }}
        />
        <section aria-labelledby="users" className="flex flex-col gap-3 border-t border-line pt-4">
          <h3 id="users" className="text-sm font-semibold">
            Who still uses it
          </h3>
          <PagedTable
            label="Keys"
            tools={{ id: 'keys' }}
            query={keys}
            columns={COLUMNS}
            rowId={({ key }) => key.id}
            heightClass="max-h-96"
            empty={
              <EmptyState icon="key" title="Nobody">
                No key used it in the last {days} days.
              </EmptyState>
            }
          />
        </section>
      </div>
    </Sheet>
  )
}

const COLUMNS: readonly Column<DeprecationKey>[] = [
  {
    id: 'account',
    header: 'Account',
    value: ({ account }) => account.name,
    render: ({ account: { id, name } }) => (
      <Link to="/accounts/$id" params={{ id }} className="font-medium hover:text-accent hover:underline">
        {name}
      </Link>
    ),
  },
  {
    id: 'key',
    header: 'Key',
    value: ({ key }) => key.name ?? key.id,
    render: ({ key }) => (
      <span title={key.id}>
        {key.name ?? 'deleted'}
        {key.is_revoked && <span className="text-ink-faint"> (revoked)</span>}
      </span>
    ),
  },
  {
    id: 'requests',
    header: 'Requests',
    value: ({ requests }) => requests,
    width: '80px',
    align: 'right',
    render: ({ requests }) => formatShortCount(requests),
  },
  {
    id: 'tokens',
    header: 'Tokens',
    value: ({ total_tokens: tokens }) => tokens,
    width: '72px',
    align: 'right',
    isMinor: true,
    render: ({ total_tokens: tokens }) => formatShortCount(tokens),
  },
  {
    id: 'cost',
    header: 'Spend',
    value: ({ cost_usd: usd }) => usd,
    width: '80px',
    align: 'right',
    isMinor: true,
    render: ({ cost_usd: costUsd }) => formatUsd(costUsd),
  },
  {
    id: 'last',
    header: 'Last hour of use',
    value: ({ last_used_at: at }) => at,
    width: '124px',
    render: ({ last_used_at: at }) => <Time at={at} form="short" />,
  },
]
