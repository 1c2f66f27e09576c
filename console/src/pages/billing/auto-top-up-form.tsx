import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { describeFailure } from '../../api/api-error.ts'
import { autoTopUpQuery, changeAutoTopUp, type AutoTopUp } from '../../api/auto-top-up.ts'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'

const FIELDS = [
  {
    name: 'threshold_usd',
    label: 'Threshold in USD',
    hint: 'Charged when the balance falls below it.',
    usual: 10,
  },
  {
    name: 'amount_usd',
    label: 'Amount in USD',
    hint: 'What one top-up buys: at least the threshold.',
    usual: 50,
  },
  {
    name: 'monthly_ceiling_usd',
    label: 'Ceiling of a month in USD',
    hint: 'No more is charged in a month of UTC, also if top-ups are refunded.',
    usual: 200,
  },
] as const

type Amounts = Readonly<Record<(typeof FIELDS)[number]['name'], string>>

/** The threshold, the amount and the ceiling. */
export function AutoTopUpForm({ topUp }: { readonly topUp: AutoTopUp }) {
  const queryClient = useQueryClient()
  const saved = amountsOf(topUp)
  const [amounts, setAmounts] = useState(saved)
  const update = useMutation({
    mutationFn: () =>
      changeAutoTopUp({
        threshold_usd: Number(amounts.threshold_usd),
        amount_usd: Number(amounts.amount_usd),
        monthly_ceiling_usd: Number(amounts.monthly_ceiling_usd),
      }),
    onSuccess: (changed) => {
      queryClient.setQueryData(autoTopUpQuery.queryKey, changed)
      showToast('The amounts are saved')
    },
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    update.mutate()
  }
  const failure = update.error && describeFailure(update.error).message
  const isSame =
    topUp.threshold_usd !== null && FIELDS.every(({ name }) => Number(amounts[name]) === Number(saved[name]))
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {FIELDS.map(({ name, label, hint }, index) => (
        <TextField
          key={name}
          label={label}
          type="number"
          inputMode="decimal"
          required
          min="1"
          step="0.01"
          hint={hint}
          value={amounts[name]}
          onChange={(value) => setAmounts((before) => ({ ...before, [name]: value }))}
          error={index === FIELDS.length - 1 ? failure : null}
        />
      ))}
      <div className="flex justify-end">
        <Button kind="primary" type="submit" isBusy={update.isPending} disabled={isSame}>
          Save amounts
        </Button>
      </div>
    </form>
  )
}

function amountsOf(topUp: AutoTopUp): Amounts {
  const [threshold, amount, ceiling] = FIELDS.map(({ name, usual }) => String(topUp[name] ?? usual))
  return {
    threshold_usd: threshold ?? '',
    amount_usd: amount ?? '',
    monthly_ceiling_usd: ceiling ?? '',
  }
}
