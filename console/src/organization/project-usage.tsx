import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { usageSpendingQuery, type Spending } from '../api/usage.ts'
import { DataTable, type Column } from '../ui/data/data-table.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../ui/feedback/skeleton.tsx'
import { formatCount, formatShare, formatShortCount } from '../ui/format/format-count.ts'
import { formatUsd } from '../ui/format/format-usd.ts'
import { buttonClass } from '../ui/forms/button.tsx'
import { Section } from '../ui/layout/section.tsx'
import { Figure } from '../ui/text/figure.tsx'
import type { ProjectPartProps } from './project-part.ts'

type Group = Spending['data'][number]

/** What the project used in the last 30 days, by model and by key. */
export function ProjectUsage({ id }: ProjectPartProps) {
  const selection = { period: '30d', project_id: id } as const
  const byModel = useQuery(usageSpendingQuery({ ...selection, by: 'model' }))
  const byKey = useQuery(usageSpendingQuery({ ...selection, by: 'key' }))
  const error = byModel.error ?? byKey.error
  if (error) return <ErrorPanel title="Usage could not be loaded" error={error} />
  if (byModel.data === undefined || byKey.data === undefined) return <SkeletonRows />
  const { data } = byModel
  if (data.requests === 0)
    return (
      <EmptyState icon="usage" title="Nothing was used in the last 30 days">
        Requests with a key of this project appear here.
      </EmptyState>
    )
  return (
    <div className="flex flex-col gap-6">
      <Section
        title="Last 30 days"
        actions={
          <span className="flex gap-2">
            <Link to="/usage" search={{ project_id: id, period: '30d' }} className={buttonClass('plain')}>
              Usage
            </Link>
            <Link to="/log" search={{ project_id: id }} className={buttonClass('plain')}>
              Log
            </Link>
          </span>
        }
      >
        <div className="grid grid-cols-1 gap-6 sm:grid-cols-3">
          <Figure label="Spend" value={formatUsd(data.cost_usd)} />
          <Figure label="Requests" value={formatCount(data.requests)} />
          <Figure label="Tokens" value={formatShortCount(data.total_tokens)} />
        </div>
      </Section>
      <Groups id="models" title="By model" spending={data} />
      <Groups id="keys" title="By key" spending={byKey.data} />
    </div>
  )
}

interface GroupsProps {
  /** Names the table in the address. */
  readonly id: string
  readonly title: string
  readonly spending: Spending
}

function Groups({ id, title, spending }: GroupsProps) {
  return (
    <Section title={title}>
      <DataTable
        label={title}
        tools={{ id, part: spending.other.groups === 0 ? undefined : 'those with the highest spend' }}
        columns={COLUMNS}
        rows={spending.data}
        rowId={({ value }) => value}
        heightClass="max-h-80"
      />
    </Section>
  )
}

const COLUMNS: readonly Column<Group>[] = [
  {
    id: 'name',
    header: 'Name',
    value: ({ name }) => name,
    render: ({ name }) => <span className="font-medium">{name}</span>,
  },
  {
    id: 'requests',
    header: 'Requests',
    value: ({ requests }) => requests,
    width: '104px',
    align: 'right',
    render: ({ requests }) => formatCount(requests),
  },
  {
    id: 'cost',
    header: 'Spend',
    value: ({ cost_usd: usd }) => usd,
    width: '104px',
    align: 'right',
    render: ({ cost_usd: costUsd }) => formatUsd(costUsd),
  },
  {
    id: 'share',
    header: 'Share',
    value: ({ share }) => share,
    width: '80px',
    align: 'right',
    isMinor: true,
    render: ({ share }) => formatShare(share),
  },
]
