import type { GpuTier } from '../../api/deployment-plans.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Figure } from '../../ui/text/figure.tsx'
import { numberIn, type Plan } from './plan.ts'

interface SummaryStepProps {
  readonly plan: Plan
  readonly tier: GpuTier | undefined
  readonly etaMinutes: number | undefined
  readonly isBusy: boolean
  readonly onCreate: () => void
}

const HOUR_MS = 3_600_000

/** What it will cost and how long it takes, before anything is created. */
export function SummaryStep({ plan, tier, etaMinutes, isBusy, onCreate }: SummaryStepProps) {
  const budgetUsd = numberIn(plan.budgetUsd)
  const price = tier?.price_per_hour_usd
  return (
    <Section title="5. Create">
      <div className="flex flex-wrap items-end justify-between gap-6">
        <div className="flex flex-wrap gap-8">
          <Figure
            label="Price"
            value={price === undefined ? '' : formatUsd(price)}
            unit="an hour"
            note="Billed by the second."
          />
          <Figure
            label="Start takes about"
            value={etaMinutes === undefined ? 'some minutes' : `${etaMinutes} min`}
            note="A start that fails is free."
          />
          {budgetUsd !== undefined && price !== undefined && price > 0 && (
            <Figure
              label="Budget lasts"
              value={formatDuration((budgetUsd / price) * HOUR_MS)}
              note={`${formatUsd(budgetUsd)} of running time.`}
            />
          )}
        </div>
        <Button kind="primary" icon="plus" isBusy={isBusy} disabled={tier === undefined} onClick={onCreate}>
          Create the deployment
        </Button>
      </div>
    </Section>
  )
}
