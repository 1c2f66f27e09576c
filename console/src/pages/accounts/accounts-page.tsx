import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Permitted } from '../../ui/permitted.tsx'
import {
  ACCOUNT_SORTS,
  accountsFileUrl,
  accountsQuery,
  isFigure,
  type AccountFilters,
} from '../../api/accounts.ts'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import type { TableState } from '../../ui/data/table/table-state.ts'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { ACCOUNT_COLUMNS } from './account-columns.tsx'
import { NewAccountDialog } from './new-account-dialog.tsx'

const route = getRouteApi('/shell/accounts')

export function AccountsPage() {
  const filters = route.useSearch()
  const navigate = useNavigate()
  const accounts = useInfiniteQuery(accountsQuery(filters))
  const [isMaking, setIsMaking] = useState(false)
  const change = (next: typeof filters): void =>
    void navigate({ to: '/accounts', search: { ...filters, ...next }, replace: true })
  const { search, status, sort, order = 'desc', min, max } = filters
  const total = accounts.data?.pages[0]?.total
  return (
    <Page>
      <PageHeader
        title="Accounts"
        description="Every account of this gateway. Each has its own keys, credit and usage."
        actions={
          <Permitted permission="gateway.manage">
            <Button kind="primary" icon="plus" onClick={() => setIsMaking(true)}>
              New account
            </Button>
          </Permitted>
        }
      />
      <FilterBar
        count={total === undefined ? undefined : formatCountOf(total, 'account')}
        {...((search || status || min !== undefined || max !== undefined) && {
          onClear: () =>
            void navigate({ to: '/accounts', search: { sort, order: filters.order }, replace: true }),
        })}
      >
        <SearchField
          label="Name or id"
          className="w-64 max-sm:w-full"
          value={search ?? ''}
          onChange={(text) => change({ search: text })}
        />
        <SelectField
          label="State"
          isLabelHidden
          value={status ?? ''}
          choices={[
            { value: '', label: 'Any state' },
            { value: 'active', label: 'Active' },
            { value: 'suspended', label: 'Suspended' },
          ]}
          onChange={(state) => change({ status: state === '' ? undefined : state })}
        />
        {isFigure(sort) && (
          <>
            <SearchField
              label={`${FIGURES[sort ?? ''] ?? ''} at least`}
              className="w-40 max-sm:w-full"
              value={min === undefined ? '' : String(min)}
              onChange={(text) => change({ min: readNumber(text) })}
            />
            <SearchField
              label={`${FIGURES[sort ?? ''] ?? ''} at most`}
              className="w-40 max-sm:w-full"
              value={max === undefined ? '' : String(max)}
              onChange={(text) => change({ max: readNumber(text) })}
            />
          </>
        )}
      </FilterBar>
      <PagedTable
        label="Accounts"
        query={accounts}
        columns={ACCOUNT_COLUMNS}
        rowId={({ id }) => id}
        tools={{
          id: 'accounts',
          fileUrl: accountsFileUrl(filters),
          order: {
            columns: ACCOUNT_SORTS,
            sort: sort === undefined ? null : { column: sort, isDescending: order === 'desc' },
            onChange: (next) => change(sortedBy(next)),
          },
        }}
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

const FIGURES: Readonly<Record<string, string>> = {
  balance: 'Balance',
  spend: 'Spent',
  growth: 'Growth',
  errors: 'Failed',
}

function readNumber(text: string): number | undefined {
  const value = Number(text)
  return text.trim() === '' || !Number.isFinite(value) ? undefined : value
}

/** Bounds are of the figure before. */
function sortedBy(sort: TableState['sort']): AccountFilters {
  const known = ACCOUNT_SORTS.find((name) => name === sort?.column)
  const unbounded = { min: undefined, max: undefined }
  if (known === undefined || sort === null) return { ...unbounded, sort: undefined, order: undefined }
  return { ...unbounded, sort: known, order: sort.isDescending ? 'desc' : 'asc' }
}
