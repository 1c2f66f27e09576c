import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import {
  ENTRY_KIND_NAMES,
  ENTRY_KINDS,
  ledgerFileUrl,
  ledgerQuery,
  type LedgerFilters,
} from '../../api/ledger.ts'
import { LEDGER_COLUMNS } from '../../ui/data/ledger-columns.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { Button, buttonClass } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { DayRangeFields } from '../../ui/forms/day-range-fields.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'

const route = getRouteApi('/shell/billing/ledger')

const KINDS = [
  { value: '', label: 'Any kind' },
  ...ENTRY_KINDS.map((kind) => ({ value: kind, label: ENTRY_KIND_NAMES[kind] })),
] as const

function describeCount({
  total,
  total_is_exact: isExact,
}: {
  total: number
  total_is_exact: boolean
}): string {
  return isExact ? formatCountOf(total, 'movement') : `More than ${formatCountOf(total, 'movement')}`
}

/** Every movement of the credit, with the balance after it. */
export function LedgerPage() {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const entries = useInfiniteQuery(ledgerQuery(filters))
  const first = entries.data?.pages[0]
  const set = (search: LedgerFilters): void => void navigate({ search, replace: true })
  const change = (next: LedgerFilters): void => set({ ...filters, ...next })
  const clear = Object.keys(filters).length > 0 ? () => set({}) : undefined
  return (
    <Page isWide>
      <PageHeader
        title="Ledger"
        description="Every movement of the credit, newest first, with the balance after it. A charge adds up the requests of some seconds."
        actions={
          <Link to="/billing" className={buttonClass('quiet')}>
            Billing
          </Link>
        }
      />
      <FilterBar count={first && describeCount(first)} onClear={clear}>
        <SelectField
          label="Kind"
          isLabelHidden
          value={filters.kind ?? ''}
          choices={KINDS}
          onChange={(kind) => change({ kind: kind === '' ? undefined : kind })}
        />
        <DayRangeFields range={filters} onChange={change} />
      </FilterBar>
      <PagedTable
        label="Movements"
        query={entries}
        columns={LEDGER_COLUMNS}
        rowId={({ id }) => id}
        tools={{ id: 'ledger', fileUrl: ledgerFileUrl(filters) }}
        empty={
          <EmptyState
            icon="card"
            title={clear ? 'No movement matches' : 'The credit has not changed yet'}
            action={clear && <Button onClick={clear}>Clear the filters</Button>}
          />
        }
      />
    </Page>
  )
}
