import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import {
  analyticsFileUrl,
  type Analytics,
  type AnalyticsGroup,
  type AnalyticsOrder,
  type AnalyticsSelection,
} from '../../api/analytics.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { formatCount, formatShare, formatShortCount } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatSignedUsd, formatUsd } from '../../ui/format/format-usd.ts'
import { RowLink } from '../../ui/text/row-link.tsx'
import { requestsOf } from './analytics-search.ts'

type Row = Omit<AnalyticsGroup, 'tenant_id' | 'previous' | 'change' | 'errors'> & {
  /** Null for the groups that are not shown. */
  readonly errors: AnalyticsGroup['errors'] | null
  /** Undefined for the groups that are not shown. */
  readonly previous?: AnalyticsGroup['previous']
}

interface GroupsProps {
  readonly data: Analytics
  readonly selection: AnalyticsSelection
  readonly onOrder: (order: AnalyticsOrder | undefined) => void
}

/** The columns that the API sorts by, the largest first. */
const ORDERS: Readonly<Record<string, AnalyticsOrder>> = {
  cost: 'cost',
  requests: 'requests',
  tokens: 'tokens',
  errors: 'errors',
  change: 'movers',
}

/** One row a group. A row opens its requests. */
export function AnalyticsGroups({ data, selection, onOrder }: GroupsProps) {
  const navigate = useNavigate()
  const open = ({ value }: Row): void => {
    const search = requestsOf(selection, value)
    if (search !== null) void navigate({ to: '/requests', search })
  }
  const rows = useMemo((): Row[] => {
    const { data: groups, other } = data
    return other.groups === 0
      ? [...groups]
      : [...groups, { ...NOT_SHOWN, ...other, name: `${other.groups} others` }]
  }, [data])
  const sorted = Object.keys(ORDERS).find((column) => ORDERS[column] === selection.order)
  return (
    <DataTable
      label="Groups"
      columns={columnsOf((row) => (requestsOf(selection, row.value) === null ? null : () => open(row)))}
      rows={rows}
      rowId={({ value, name }) => `${value} ${name}`}
      onOpen={open}
      heightClass="max-h-[32rem]"
      tools={{
        id: 'groups',
        fileUrl: analyticsFileUrl(selection),
        order: {
          columns: Object.keys(ORDERS),
          sort: sorted === undefined ? null : { column: sorted, isDescending: true },
          onChange: (sort) => onOrder(sort === null ? undefined : ORDERS[sort.column]),
        },
      }}
    />
  )
}

const NOT_SHOWN = {
  value: '',
  account_name: null,
  cache_hit_rate: null,
  errors: null,
  error_rate: null,
  latency: null,
  ttft: null,
  vendor_cost_usd: null,
  margin_usd: null,
  costed_requests: 0,
} as const

const columnsOf = (openOf: (row: Row) => (() => void) | null): readonly Column<Row>[] => [
  {
    id: 'name',
    header: 'Name',
    value: ({ name }) => name,
    render: (row) => {
      const open = openOf(row)
      const { name, account_name: account } = row
      const text = name || 'none'
      return (
        <span className="flex min-w-0 items-baseline gap-2">
          {open === null ? (
            <span className="truncate font-medium">{text}</span>
          ) : (
            <RowLink onOpen={open}>{text}</RowLink>
          )}
          {account !== null && account !== name && (
            <span className="truncate text-xs text-ink-faint">{account}</span>
          )}
        </span>
      )
    },
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
    id: 'margin',
    header: 'Margin',
    value: ({ margin_usd: usd }) => usd,
    width: '104px',
    align: 'right',
    isMinor: true,
    // Of the requests whose cost is known.
    render: ({ margin_usd: marginUsd }) => (marginUsd === null ? '' : formatUsd(marginUsd)),
  },
  {
    id: 'change',
    header: 'Against before',
    value: ({ cost_usd: usd, previous }) => previous && usd - previous.cost_usd,
    width: '128px',
    align: 'right',
    render: ({ cost_usd: costUsd, previous }) =>
      previous ? formatSignedUsd(costUsd - previous.cost_usd) : '',
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
    id: 'tokens',
    header: 'Tokens',
    value: ({ total_tokens: tokens }) => tokens,
    width: '96px',
    align: 'right',
    isMinor: true,
    render: ({ total_tokens: tokens }) => formatShortCount(tokens),
  },
  {
    id: 'errors',
    header: 'Failed',
    value: ({ errors }) => errors?.failed,
    width: '112px',
    align: 'right',
    render: ({ errors, error_rate: rate }) =>
      errors === null ? '' : `${formatCount(errors.failed)}${rate ? ` (${formatShare(rate)})` : ''}`,
  },
  {
    id: 'latency',
    header: 'Latency p95',
    value: ({ latency }) => latency?.p95_ms,
    width: '104px',
    align: 'right',
    isMinor: true,
    render: ({ latency }) => (latency === null ? '' : formatDuration(latency.p95_ms)),
  },
  {
    id: 'ttft',
    header: 'First token p50',
    value: ({ ttft }) => ttft?.p50_ms,
    width: '128px',
    align: 'right',
    isMinor: true,
    render: ({ ttft }) => (ttft === null ? '' : formatDuration(ttft.p50_ms)),
  },
  {
    id: 'cache',
    header: 'Cache hits',
    value: ({ cache_hit_rate: rate }) => rate,
    width: '96px',
    align: 'right',
    isMinor: true,
    render: ({ cache_hit_rate: rate }) => (rate === null ? '' : formatShare(rate)),
  },
]
