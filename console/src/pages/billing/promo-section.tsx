import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { describeFailure } from '../../api/api-error.ts'
import { redeemPromoCode } from '../../api/billing.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'

/** Turns a promo code into credit. */
export function PromoSection() {
  const queryClient = useQueryClient()
  const [code, setCode] = useState('')
  const redemption = useMutation({
    mutationFn: () => redeemPromoCode(code.trim()),
    onSuccess: async ({ amount_usd: amountUsd }) => {
      setCode('')
      showToast(`${formatUsd(amountUsd)} of credit was added`)
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: ['account'] }),
        queryClient.invalidateQueries({ queryKey: ['payments'] }),
      ])
    },
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    redemption.mutate()
  }
  return (
    <Section title="Promo code">
      <form onSubmit={submit} className="flex items-start gap-2">
        <TextField
          label="Code"
          className="grow"
          autoComplete="off"
          spellCheck={false}
          required
          value={code}
          onChange={setCode}
          hint="Promotional credit is spent before paid credit."
          error={redemption.error && describeFailure(redemption.error).message}
        />
        <Button type="submit" className="mt-5" isBusy={redemption.isPending} disabled={code.trim() === ''}>
          Redeem
        </Button>
      </form>
    </Section>
  )
}
