import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Payment } from '../../api/billing.ts'
import { accountPaymentsQuery } from '../../api/accounts.ts'
import { refundPayment } from '../../api/operator.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { PAYMENT_COLUMNS } from '../../ui/data/payment-columns.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'

interface Refunding {
  readonly payment: Payment
  /** Makes a second click the same refund. */
  readonly idempotencyKey: string
}

/** The payments of an account. Those that were bought can be refunded. */
export function PaymentList({ id }: { readonly id: string }) {
  const queryClient = useQueryClient()
  const payments = useInfiniteQuery(accountPaymentsQuery(id))
  const [refunding, setRefunding] = useState<Refunding | null>(null)
  const refundColumn: Column<Payment> = {
    id: 'refund',
    header: 'Action',
    width: '104px',
    align: 'right',
    render: (payment) =>
      isRefundable(payment) && (
        <Button kind="quiet" onClick={() => setRefunding({ payment, idempotencyKey: crypto.randomUUID() })}>
          Refund
        </Button>
      ),
  }
  return (
    <>
      <PagedTable
        label="Payments"
        query={payments}
        columns={[...PAYMENT_COLUMNS, refundColumn]}
        rowId={(payment) => payment.id}
        empty={<EmptyState icon="card" title="No payment yet" />}
      />
      {refunding && (
        <ConfirmDialog
          title={`Refund ${formatUsd(refunding.payment.amount_usd)}?`}
          description="The money goes back, and what is left of the payment is taken from the credit. This cannot be undone."
          action="Refund the payment"
          onConfirm={async () => {
            await refundPayment(refunding.payment.id, refunding.idempotencyKey)
            await queryClient.invalidateQueries({ queryKey: ['accounts'] })
          }}
          onClose={() => setRefunding(null)}
        />
      )}
    </>
  )
}

function isRefundable({ kind, status }: Payment): boolean {
  return kind === 'checkout' && (status === 'completed' || status === 'partially_refunded')
}
