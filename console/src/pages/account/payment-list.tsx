import { useInfiniteQuery } from '@tanstack/react-query'
import { accountPaymentsFileUrl, accountPaymentsQuery } from '../../api/accounts.ts'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { PAYMENT_COLUMNS } from '../../ui/data/payment-columns.tsx'
import { useRefunds } from '../../ui/data/use-refunds.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'

/** The payments of an account. Those that were bought can be refunded. */
export function PaymentList({ id }: { readonly id: string }) {
  const payments = useInfiniteQuery(accountPaymentsQuery(id))
  const refunds = useRefunds()
  return (
    <>
      <PagedTable
        label="Payments"
        tools={{ id: 'payments', fileUrl: accountPaymentsFileUrl(id) }}
        query={payments}
        columns={[...PAYMENT_COLUMNS, refunds.column]}
        rowId={(payment) => payment.id}
        empty={<EmptyState icon="card" title="No payment yet" />}
      />
      {refunds.dialog}
    </>
  )
}
