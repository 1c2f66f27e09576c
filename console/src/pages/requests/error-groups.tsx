import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { requestErrorsQuery, type AdminRequestFilters, type ErrorGroup } from '../../api/admin-requests.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatCount, formatCountOf } from '../../ui/format/format-count.ts'
import { RowLink } from '../../ui/text/row-link.tsx'
import { Time } from '../../ui/text/time.tsx'
import { errorOf } from './request-columns.tsx'

interface ErrorGroupsProps {
  readonly filters: AdminRequestFilters
  /** Shows the requests of a group. */
  readonly onOpen: (group: ErrorGroup) => void
}

/** Equal errors with their numbers, the most frequent first. */
export function ErrorGroups({ filters, onOpen }: ErrorGroupsProps) {
  const errors = useQuery(requestErrorsQuery(filters))
  const columns = useMemo(() => columnsOf(onOpen), [onOpen])
  if (errors.isPending) return <SkeletonRows />
  if (errors.error)
    return (
      <ErrorPanel
        title="The errors could not be loaded"
        error={errors.error}
        onRetry={() => void errors.refetch()}
      />
    )
  const { data, requests } = errors.data
  if (data.length === 0) return <EmptyState icon="log" title="No error in this time" />
  return (
    <div className="flex flex-col gap-3">
      <p className="text-sm text-ink-soft">
        {formatCountOf(requests, 'failed request')} {filters.period ? '' : 'of the last 24 hours '}in groups
        of equal errors. Of the filters those for time, account, key, model, provider, outcome and error count
        here.
      </p>
      <DataTable
        label="Equal errors"
        columns={columns}
        rows={data}
        rowId={({ error_key: key, provider }) => `${key} ${provider}`}
        onOpen={onOpen}
        tools={{ id: 'errors', part: errors.data.has_more ? 'the most frequent errors' : undefined }}
      />
    </div>
  )
}

function columnsOf(onOpen: (group: ErrorGroup) => void): Column<ErrorGroup>[] {
  return [
    {
      id: 'requests',
      header: 'Requests',
      value: ({ requests }) => requests,
      width: '96px',
      align: 'right',
      render: ({ requests }) => formatCount(requests),
    },
    {
      id: 'error',
      header: 'Error',
      value: (group) => errorOf(group) ?? group.outcome,
      render: (group) => <RowLink onOpen={() => onOpen(group)}>{errorOf(group) ?? group.outcome}</RowLink>,
    },
    {
      id: 'provider',
      header: 'Provider',
      value: ({ provider }) => provider,
      width: '112px',
      isMinor: true,
      render: ({ provider }) => <span className="text-ink-soft">{provider ?? 'none'}</span>,
    },
    {
      id: 'models',
      header: 'Models',
      value: ({ models }) => models.join(', '),
      width: '168px',
      isMinor: true,
      render: ({ models }) => <span className="truncate text-ink-soft">{models.join(', ')}</span>,
    },
    {
      id: 'accounts',
      header: 'Accounts',
      value: ({ accounts }) => accounts,
      width: '176px',
      isMinor: true,
      render: ({ accounts, top_accounts: top }) => (
        <span className="truncate text-ink-soft">
          {top.map(({ name }) => name).join(', ')}
          {accounts > top.length && ` and ${accounts - top.length} more`}
        </span>
      ),
    },
    {
      id: 'first',
      header: 'First seen',
      value: ({ first_seen_at: at }) => at,
      width: '128px',
      isMinor: true,
      render: ({ first_seen_at: at }) => <Time at={at} form="short" />,
    },
    {
      id: 'last',
      header: 'Last seen',
      value: ({ last_seen_at: at }) => at,
      width: '128px',
      render: ({ last_seen_at: at }) => <Time at={at} form="short" />,
    },
  ]
}
