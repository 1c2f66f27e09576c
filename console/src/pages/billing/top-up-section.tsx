import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { paymentConfigQuery, startCheckout } from '../../api/billing.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Badge } from '../../ui/text/badge.tsx'

/** Buys credit at the payment provider. */
export function TopUpSection() {
  const { data: config, error, refetch } = useQuery(paymentConfigQuery)
  const [amountUsd, setAmountUsd] = useState('20')
  const checkout = useMutation({
    mutationFn: () => startCheckout(Number(amountUsd), '/billing'),
    onSuccess: ({ checkout_url: url }) => location.assign(url),
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    checkout.mutate()
  }
  return (
    <Section
      title="Top up"
      actions={config?.test_mode && <Badge tone="accent">test mode: no money moves</Badge>}
    >
      {error && (
        <ErrorPanel title="It is not known how to pay" error={error} onRetry={() => void refetch()} />
      )}
      {!config && !error && <SkeletonRows count={2} />}
      {config && !config.available && (
        <p className="text-sm text-ink-soft">
          Nothing can be bought here: {config.unavailable_reason ?? 'no payment provider is configured.'}
        </p>
      )}
      {config?.available && (
        <form onSubmit={submit} className="flex flex-col gap-3">
          <div role="group" aria-label="Amounts" className="flex flex-wrap gap-2">
            {config.presets_usd.map((preset) => (
              <Button
                key={preset}
                aria-pressed={Number(amountUsd) === preset}
                className="aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent"
                onClick={() => setAmountUsd(String(preset))}
              >
                ${preset}
              </Button>
            ))}
          </div>
          <div className="flex items-start gap-2">
            <TextField
              label="Amount in USD"
              type="number"
              inputMode="decimal"
              className="grow"
              required
              min={config.min_usd}
              max={config.max_usd}
              step="0.01"
              value={amountUsd}
              onChange={setAmountUsd}
              hint={`From ${formatUsd(config.min_usd)} to ${formatUsd(config.max_usd)}`}
            />
            <Button
              kind="primary"
              type="submit"
              className="mt-5"
              isBusy={checkout.isPending || checkout.isSuccess}
            >
              Go to checkout
            </Button>
          </div>
          {checkout.error && <ErrorPanel title="The checkout could not be started" error={checkout.error} />}
        </form>
      )}
    </Section>
  )
}
