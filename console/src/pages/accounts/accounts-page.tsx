import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { accountsQuery, type Account } from '../../api/accounts.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { Time } from '../../ui/text/time.tsx'
import { NewAccountDialog } from './new-account-dialog.tsx'

const route = getRouteApi('/shell/accounts')

export function AccountsPage() {
  const filters = route.useSearch()
  const navigate = useNavigate()
  const accounts = useInfiniteQuery(accountsQuery(filters))
  const [isMaking, setIsMaking] = useState(false)
  const change = (next: typeof filters): void =>
    void navigate({ to: '/accounts', search: { ...filters, ...next }, replace: true })
  const total = accounts.data?.pages[0]?.total
  return (
    <Page>
      <PageHeader
        title="Accounts"
        description="Every account of this gateway. Each has its own keys, credit and usage."
        actions={
          <Button kind="primary" icon="plus" onClick={() => setIsMaking(true)}>
            New account
          </Button>
        }
      />
      <FilterBar
        count={total === undefined ? undefined : formatCountOf(total, 'account')}
        {...((filters.search || filters.status) && {
          onClear: () => void navigate({ to: '/accounts', search: {}, replace: true }),
        })}
      >
        <SearchField
          label="Name or id"
          className="w-64 max-sm:w-full"
          value={filters.search ?? ''}
          onChange={(search) => change({ search })}
        />
        <SelectField
          label="State"
          isLabelHidden
          value={filters.status ?? ''}
          choices={[
            { value: '', label: 'Any state' },
            { value: 'active', label: 'Active' },
            { value: 'suspended', label: 'Suspended' },
          ]}
          onChange={(status) => change({ status: status === '' ? undefined : status })}
        />
      </FilterBar>
      <PagedTable
        label="Accounts"
        query={accounts}
        columns={COLUMNS}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/accounts/$id', params: { id } })}
        empty={
          <EmptyState icon="people" title="No account matches">
            Change or clear the filters.
          </EmptyState>
        }
      />
      {isMaking && <NewAccountDialog onClose={() => setIsMaking(false)} />}
    </Page>
  )
}

const COLUMNS: readonly Column<Account>[] = [
  {
    id: 'name',
    header: 'Name',
    render: ({ id, name }) => (
      <Link to="/accounts/$id" params={{ id }} className="font-medium hover:text-accent hover:underline">
        {name}
      </Link>
    ),
  },
  {
    id: 'id',
    header: 'Id',
    width: '176px',
    isMinor: true,
    render: ({ id }) => <CopyableId id={id} label="account id" isShort />,
  },
  {
    id: 'status',
    header: 'State',
    width: '112px',
    render: ({ status }) => <Badge tone={status === 'active' ? 'good' : 'warn'}>{status}</Badge>,
  },
  {
    id: 'balance',
    header: 'Balance',
    width: '128px',
    align: 'right',
    render: ({ balance_usd: balanceUsd }) => formatUsd(balanceUsd),
  },
  {
    id: 'created',
    header: 'Made',
    width: '128px',
    isMinor: true,
    render: ({ created_at: at }) => <Time at={at} />,
  },
]
