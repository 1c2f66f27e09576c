import type { Spending } from '../../api/usage.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { formatCount, formatShare, formatShortCount } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'

type Group = Pick<
  Spending['data'][number],
  'name' | 'requests' | 'total_tokens' | 'cost_usd' | 'share' | 'prompt_tokens' | 'cached_tokens'
> & { readonly value: string }

const COLUMNS: readonly Column<Group>[] = [
  {
    id: 'name',
    header: 'Name',
    render: ({ name }) => <span className="font-medium">{name || 'without the tag'}</span>,
  },
  {
    id: 'requests',
    header: 'Requests',
    width: '112px',
    align: 'right',
    render: ({ requests }) => formatCount(requests),
  },
  {
    id: 'tokens',
    header: 'Tokens',
    width: '112px',
    align: 'right',
    isMinor: true,
    render: ({ total_tokens: tokens }) => formatShortCount(tokens),
  },
  {
    id: 'cache',
    header: 'Cache hit rate',
    width: '128px',
    align: 'right',
    isMinor: true,
    render: ({ prompt_tokens: tokens, cached_tokens: cached }) =>
      tokens === 0 ? 'none' : formatShare(cached / tokens),
  },
  {
    id: 'cost',
    header: 'Spend',
    width: '112px',
    align: 'right',
    render: ({ cost_usd: costUsd }) => formatUsd(costUsd),
  },
  {
    id: 'share',
    header: 'Share',
    width: '88px',
    align: 'right',
    isMinor: true,
    render: ({ share }) => formatShare(share),
  },
]

/** What each group comes to, the most expensive first. */
export function UsageGroups({ spending }: { readonly spending: Spending }) {
  const { data, other } = spending
  const rest: Group[] =
    other.groups === 0 ? [] : [{ ...other, value: '', name: `${formatCount(other.groups)} others` }]
  return (
    <DataTable
      label="Groups"
      columns={COLUMNS}
      rows={[...data, ...rest]}
      rowId={({ value }) => value}
      heightClass="max-h-96"
    />
  )
}
