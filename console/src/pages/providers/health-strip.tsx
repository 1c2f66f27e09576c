import type { ProviderHealth } from '../../api/provider-health.ts'
import { classNames } from '../../ui/class-names.ts'
import { formatCount, formatShare } from '../../ui/format/format-count.ts'

type Bucket = ProviderHealth['buckets'][number]

/** From these shares of failed calls on, as on the public page. */
const DEGRADED_SHARE = 0.05
const DOWN_SHARE = 0.5

/** A bar a day, with the figures of the day in its tooltip. */
export function HealthStrip({ health }: { readonly health: ProviderHealth }) {
  return (
    <span
      role="img"
      aria-label={`${health.provider}: ${describeUptime(health.uptime)} in 30 days`}
      className="flex h-5 items-stretch gap-px"
    >
      {health.buckets.map((bucket) => (
        <span
          key={bucket.start}
          title={describeDay(bucket)}
          className={classNames('min-w-0.5 flex-1 rounded-xs', toneOf(bucket))}
        />
      ))}
    </span>
  )
}

export function describeUptime(uptime: number | null): string {
  return uptime === null ? 'not called' : `${formatUptime(uptime)} uptime`
}

/** With two places, because 99 % and 99.9 % differ by a factor of ten. */
export function formatUptime(uptime: number): string {
  return `${(uptime * 100).toFixed(uptime === 1 ? 0 : 2)} %`
}

function toneOf({ error_rate: rate }: Bucket): string {
  if (rate === null) return 'bg-line'
  if (rate >= DOWN_SHARE) return 'bg-bad'
  return rate >= DEGRADED_SHARE ? 'bg-warn' : 'bg-good'
}

function describeDay({ start, calls, failures, error_rate: rate, latency }: Bucket): string {
  const day = start.slice(0, 'YYYY-MM-DD'.length)
  if (rate === null) return `${day}: no calls`
  const spread = latency === null ? '' : `, p50 ${latency.p50_ms} ms, p95 ${latency.p95_ms} ms`
  return `${day}: ${formatCount(calls)} calls, ${formatCount(failures)} failed (${formatShare(rate)})${spread}`
}
