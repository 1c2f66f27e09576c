import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { adjustCredit } from '../../api/accounts.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'

const DIRECTIONS = [
  { value: 'give', label: 'Give credit' },
  { value: 'take', label: 'Deduct credit' },
] as const
const CLASSES = [
  { value: 'paid', label: 'Paid' },
  { value: 'promotional', label: 'Promotional' },
] as const

/** Gives or deducts credit, with a reason that the audit log keeps. */
export function CreditDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const [direction, setDirection] = useState<'give' | 'take'>('give')
  const [creditClass, setCreditClass] = useState<'paid' | 'promotional'>('paid')
  const [amountUsd, setAmountUsd] = useState('')
  const [reason, setReason] = useState('')
  const adjustment = useMutation({
    mutationFn: () => {
      const amount = Number(amountUsd) * (direction === 'give' ? 1 : -1)
      return adjustCredit(
        id,
        { amount_usd: amount, reason: reason.trim(), class: creditClass },
        idempotencyKey,
      )
    },
    onSuccess: async ({ balance_usd: balanceUsd }) => {
      showToast('The credit is changed', `The balance is ${formatUsd(balanceUsd)}.`)
      await Promise.all(
        ['accounts', 'audit', 'account'].map((name) => queryClient.invalidateQueries({ queryKey: [name] })),
      )
      onClose()
    },
  })
  return (
    <FormDialog
      title="Change credit"
      action={direction === 'give' ? 'Give' : 'Deduct'}
      work={adjustment}
      failure="The credit could not be changed"
      isIncomplete={!(Number(amountUsd) > 0) || reason.trim() === ''}
      onClose={onClose}
    >
      <div className="grid grid-cols-2 gap-4">
        <SelectField label="What to do" value={direction} choices={DIRECTIONS} onChange={setDirection} />
        <SelectField label="Class" value={creditClass} choices={CLASSES} onChange={setCreditClass} />
      </div>
      <TextField
        label="Amount in USD"
        type="number"
        min="0"
        step="any"
        required
        value={amountUsd}
        onChange={setAmountUsd}
      />
      <TextField label="Reason" required maxLength={500} value={reason} onChange={setReason} />
    </FormDialog>
  )
}
