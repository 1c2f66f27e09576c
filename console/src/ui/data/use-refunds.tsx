import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { refundPayment } from '../../api/all-payments.ts'
import { useMay } from '../../api/permissions.ts'
import type { Payment } from '../../api/billing.ts'
import { formatUsd } from '../format/format-usd.ts'
import { Button } from '../forms/button.tsx'
import { TextField } from '../forms/text-field.tsx'
import { FormDialog } from '../overlays/form-dialog.tsx'
import type { Column } from './data-table.tsx'

interface Refunding {
  readonly payment: Payment
  /** Makes a second click the same refund. */
  readonly idempotencyKey: string
}

/** A column with a button for each payment that an operator can refund, and the question before it. */
export function useRefunds(): { readonly column: Column<Payment>; readonly dialog: ReactNode } {
  const [refunding, setRefunding] = useState<Refunding | null>(null)
  const mayRefund = useMay('gateway.manage')
  const column: Column<Payment> = {
    id: 'refund',
    isAction: true,
    width: '104px',
    align: 'right',
    render: (payment) =>
      mayRefund &&
      isRefundable(payment) && (
        <Button
          kind="quiet"
          className="-mr-3 max-sm:mr-0 max-sm:px-0"
          onClick={() => setRefunding({ payment, idempotencyKey: crypto.randomUUID() })}
        >
          Refund
        </Button>
      ),
  }
  const dialog = refunding && <RefundDialog {...refunding} onClose={() => setRefunding(null)} />
  return { column, dialog }
}

function RefundDialog({ payment, idempotencyKey, onClose }: Refunding & { readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const [reason, setReason] = useState('')
  const refund = useMutation({
    mutationFn: () => refundPayment(payment.id, reason.trim(), idempotencyKey),
    onSuccess: async () => {
      await Promise.all(
        ['accounts', 'all-payments'].map((name) => queryClient.invalidateQueries({ queryKey: [name] })),
      )
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Refund ${formatUsd(payment.amount_usd)}?`}
      action="Refund the payment"
      work={refund}
      failure="The payment could not be refunded"
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">
        The money goes back, and what is left of the payment is taken from the credit. This cannot be undone.
      </p>
      <TextField
        label="Reason, which the account reads"
        maxLength={500}
        value={reason}
        onChange={setReason}
      />
    </FormDialog>
  )
}

function isRefundable({ kind, status }: Payment): boolean {
  return kind === 'checkout' && (status === 'completed' || status === 'partially_refunded')
}
