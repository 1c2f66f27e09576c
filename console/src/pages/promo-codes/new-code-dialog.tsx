import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createPromoCode } from '../../api/operator.ts'
import { TextField } from '../../ui/forms/text-field.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'

const WHOLE = { type: 'number', inputMode: 'numeric', min: '1', step: '1' } as const

export function NewCodeDialog({ onClose }: { readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const [code, setCode] = useState('')
  const [amountUsd, setAmountUsd] = useState('5')
  const [most, setMost] = useState('')
  const [mostByAccount, setMostByAccount] = useState('1')
  const [expiresAt, setExpiresAt] = useState('')
  const [creditDays, setCreditDays] = useState('')
  const creation = useMutation({
    mutationFn: () =>
      createPromoCode({
        ...(code.trim() !== '' && { code: code.trim() }),
        amount_usd: Number(amountUsd),
        redemptions_max: most === '' ? null : Number(most),
        redemptions_per_account_max: Number(mostByAccount),
        expires_at: expiresAt === '' ? null : new Date(expiresAt).toISOString(),
        credit_expires_in_days: creditDays === '' ? null : Number(creditDays),
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['promo-codes'] })
      onClose()
    },
  })
  return (
    <FormDialog
      title="New promo code"
      action="Make the code"
      work={creation}
      failure="The code could not be made"
      onClose={onClose}
    >
      <TextField
        label="Code"
        placeholder="Generated if empty"
        minLength={4}
        maxLength={64}
        pattern="[A-Za-z0-9_\-]*"
        value={code}
        onChange={setCode}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Credit in USD"
          type="number"
          min="0"
          step="any"
          required
          value={amountUsd}
          onChange={setAmountUsd}
        />
        <TextField
          label="Credit lasts, in days"
          {...WHOLE}
          max="3650"
          placeholder="For ever"
          value={creditDays}
          onChange={setCreditDays}
        />
        <TextField
          label="Redemptions in total"
          {...WHOLE}
          placeholder="Any number"
          value={most}
          onChange={setMost}
        />
        <TextField
          label="Redemptions by one account"
          {...WHOLE}
          required
          value={mostByAccount}
          onChange={setMostByAccount}
        />
      </div>
      <TextField
        label="Code expires"
        type="datetime-local"
        hint="In your time zone. Leave it empty for a code that does not expire."
        value={expiresAt}
        onChange={setExpiresAt}
      />
    </FormDialog>
  )
}
