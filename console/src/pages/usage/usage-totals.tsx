import { useQuery } from '@tanstack/react-query'
import { usageSummaryQuery, type UsageSelection } from '../../api/usage.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { formatCount, formatShare, formatShortCount } from '../../ui/format/format-count.ts'
import { describeChange } from '../../ui/format/describe-change.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Section } from '../../ui/layout/section.tsx'
import { Figure } from '../../ui/text/figure.tsx'

/** The sums of the period, and how they compare with the same time before. */
export function UsageTotals({ selection }: { readonly selection: UsageSelection }) {
  const { data, error, refetch } = useQuery(usageSummaryQuery(selection))
  if (error)
    return <ErrorPanel title="The sums could not be loaded" error={error} onRetry={() => void refetch()} />
  return (
    <Section>
      <div className="grid grid-cols-2 gap-6 lg:grid-cols-4">
        <Figure
          label="Spend"
          value={data && formatUsd(data.cost_usd)}
          note={
            data && (describeChange(data.change.cost_usd) ?? averageOf(data.averages.cost_usd_per_request))
          }
        />
        <Figure
          label="Requests"
          value={data && formatCount(data.requests)}
          note={data && describeChange(data.change.requests)}
        />
        <Figure
          label="Tokens"
          value={data && formatShortCount(data.total_tokens)}
          note={
            data &&
            `${formatShortCount(data.prompt_tokens)} in, ${formatShortCount(data.completion_tokens)} out`
          }
        />
        <Figure
          label="Cache hit rate"
          value={data && (data.cache_hit_rate === null ? 'none' : formatShare(data.cache_hit_rate))}
          note={data && `${formatShortCount(data.cached_tokens)} input tokens read from a cache`}
        />
      </div>
    </Section>
  )
}

function averageOf(costUsd: number): string {
  return `${formatUsd(costUsd)} a request`
}
