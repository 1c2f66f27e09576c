import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { allPaymentsFileUrl, allPaymentsQuery, type AccountPayment } from '../../api/all-payments.ts'
import type { Payment } from '../../api/billing.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { PAYMENT_COLUMNS } from '../../ui/data/payment-columns.tsx'
import { useRefunds } from '../../ui/data/use-refunds.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Button, buttonClass } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { PaymentFilterBar } from './payment-filter-bar.tsx'

const route = getRouteApi('/shell/payments')

/** What changed the credit of any account except for usage. */
export function PaymentsPage() {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  const payments = useInfiniteQuery(allPaymentsQuery(filters))
  const refunds = useRefunds()
  const [time, ...others] = PAYMENT_COLUMNS
  return (
    <Page>
      <PageHeader
        title="Payments"
        description="Top-ups, promo codes, adjustments and refunds of all accounts, with their receipts."
      />
      <PaymentFilterBar filters={filters} total={payments.data?.pages[0]?.total} />
      <PagedTable
        label="Payments"
        tools={{ id: 'payments', fileUrl: allPaymentsFileUrl(filters) }}
        query={payments}
        columns={[...(time ? [time] : []), ACCOUNT_COLUMN, ...others.map(toMinor), refunds.column]}
        rowId={({ id }) => id}
        empty={
          isFiltered ? (
            <EmptyState
              icon="card"
              title="No payment matches"
              action={<Button onClick={() => void navigate({ search: {} })}>Clear the filters</Button>}
            >
              Change or clear the filters.
            </EmptyState>
          ) : (
            <EmptyState
              icon="card"
              title="No payment yet"
              action={
                <Link to="/accounts" className={buttonClass()}>
                  See the accounts
                </Link>
              }
            >
              Top-ups, redeemed promo codes, adjustments and refunds of all accounts appear here.
            </EmptyState>
          )
        }
      />
      {refunds.dialog}
    </Page>
  )
}

/** On a phone the account, the state and the amount must do. */
function toMinor(column: Column<Payment>): Column<Payment> {
  return column.id === 'kind' ? { ...column, isMinor: true } : column
}

const ACCOUNT_COLUMN: Column<AccountPayment> = {
  id: 'account',
  value: ({ account_name: name }) => name,
  header: 'Account',
  width: '144px',
  render: ({ account_id: id, account_name: name }) => (
    <Link
      to="/accounts/$id"
      params={{ id }}
      search={{ tab: 'payments' }}
      className="font-medium hover:text-accent hover:underline"
    >
      {name}
    </Link>
  ),
}
