import { useInfiniteQuery } from '@tanstack/react-query'
import { PAYMENTS_FILE_URL, paymentsQuery } from '../../api/billing.ts'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { PAYMENT_COLUMNS } from '../../ui/data/payment-columns.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'

/** What changed the credit except for usage. */
export function PaymentHistory() {
  const payments = useInfiniteQuery(paymentsQuery())
  return (
    <section aria-labelledby="payment-history" className="flex flex-col gap-3">
      <h2 id="payment-history" className="text-sm font-semibold">
        History
      </h2>
      <PagedTable
        label="Payments"
        tools={{ id: 'payments', fileUrl: PAYMENTS_FILE_URL }}
        query={payments}
        columns={PAYMENT_COLUMNS}
        rowId={({ id }) => id}
        empty={
          <EmptyState icon="card" title="No payment yet">
            Top-ups, promo codes, adjustments and refunds appear here, with their receipts.
          </EmptyState>
        }
      />
    </section>
  )
}
