import { useQuery } from '@tanstack/react-query'
import { deploymentBillQuery, type Deployment } from '../../api/deployment.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Section } from '../../ui/layout/section.tsx'
import { Figure } from '../../ui/text/figure.tsx'
import { Time } from '../../ui/text/time.tsx'

const HOUR_MS = 3_600_000

/** What it costs, and how long the budget lasts. */
export function BurnFigures({ deployment }: { readonly deployment: Deployment }) {
  const bill = useQuery(deploymentBillQuery(deployment.id))
  if (bill.error && !bill.data)
    return (
      <ErrorPanel
        title="The bill could not be loaded"
        error={bill.error}
        onRetry={() => void bill.refetch()}
      />
    )
  const { data } = bill
  const limit = deployment.budget_limit_usd
  return (
    <Section>
      <div className="grid grid-cols-2 gap-6 lg:grid-cols-4">
        <Figure
          label="Burn now"
          value={data && formatUsd(data.burn_rate_usd_per_hour)}
          unit="an hour"
          note={`${formatUsd(deployment.hourly_cost)} while it has a GPU`}
        />
        <Figure
          label="Spent"
          value={data && formatUsd(data.accrued_usd)}
          note={data && gpuTimeNote(data.billed_seconds)}
        />
        <Figure
          label="Budget"
          value={limit === null ? 'none' : formatUsd(limit)}
          note={data && limitNote(data)}
        >
          {limit !== null && data && (
            <progress
              aria-label="Part of the budget that is spent"
              max={limit}
              value={Math.min(limit, data.accrued_usd)}
              className="h-1.5 w-full appearance-none overflow-hidden rounded-full bg-hover [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-hover [&::-webkit-progress-value]:bg-accent"
            />
          )}
        </Figure>
        <Figure
          label="Sleeps after"
          value={deployment.idle_timeout_minutes === 0 ? 'never' : `${deployment.idle_timeout_minutes} min`}
          note={
            <>
              Last request <Time at={deployment.last_request_at} />
            </>
          }
        />
      </div>
    </Section>
  )
}

function limitNote({ hours_left: hours }: { readonly hours_left: number | null }): string {
  return hours === null
    ? 'It runs until it is stopped.'
    : `lasts ${formatDuration(hours * HOUR_MS)} of running time`
}

function gpuTimeNote(seconds: number): string {
  return seconds === 0 ? 'no GPU time yet' : `${formatDuration(seconds * 1000)} of GPU time`
}
