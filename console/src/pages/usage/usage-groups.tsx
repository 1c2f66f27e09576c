import { useMemo } from 'react'
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
    value: ({ name }) => name,
    render: ({ name }) => <span className="font-medium">{name || 'without the tag'}</span>,
  },
  {
    id: 'requests',
    header: 'Requests',
    value: ({ requests }) => requests,
    width: '112px',
    align: 'right',
    render: ({ requests }) => formatCount(requests),
  },
  {
    id: 'tokens',
    header: 'Tokens',
    value: ({ total_tokens: tokens }) => tokens,
    width: '112px',
    align: 'right',
    isMinor: true,
    render: ({ total_tokens: tokens }) => formatShortCount(tokens),
  },
  {
    id: 'cache',
    header: 'Cache hit rate',
    value: ({ prompt_tokens: tokens, cached_tokens: cached }) => (tokens === 0 ? null : cached / tokens),
    width: '128px',
    align: 'right',
    isMinor: true,
    render: ({ prompt_tokens: tokens, cached_tokens: cached }) =>
      tokens === 0 ? 'none' : formatShare(cached / tokens),
  },
  {
    id: 'cost',
    header: 'Spend',
    value: ({ cost_usd: costUsd }) => costUsd,
    width: '112px',
    align: 'right',
    render: ({ cost_usd: costUsd }) => formatUsd(costUsd),
  },
  {
    id: 'share',
    header: 'Share',
    value: ({ share }) => share,
    width: '88px',
    align: 'right',
    isMinor: true,
    render: ({ share }) => formatShare(share),
  },
]

/** What each group comes to, the most expensive first. */
export function UsageGroups({ spending }: { readonly spending: Spending }) {
  const { data, other } = spending
  const rows = useMemo((): Group[] => {
    const rest = { ...other, value: '~others', name: `${formatCount(other.groups)} others` }
    return other.groups === 0 ? [...data] : [...data, rest]
  }, [data, other])
  return (
    <DataTable
      label="Groups"
      columns={COLUMNS}
      rows={rows}
      rowId={({ value }) => value}
      tools={{ id: 'groups' }}
      heightClass="max-h-96"
    />
  )
}
