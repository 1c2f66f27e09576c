import type { Analytics } from '../../api/analytics.ts'
import { describeChange } from '../../ui/format/describe-change.ts'
import { formatCount, formatShare, formatShortCount } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Section } from '../../ui/layout/section.tsx'
import { Figure } from '../../ui/text/figure.tsx'

/** The sums of all accounts, and how they compare with the same time before. */
export function AnalyticsTotals({ data }: { readonly data: Analytics | undefined }) {
  return (
    <Section>
      <div className="grid grid-cols-2 gap-6 lg:grid-cols-5">
        <Figure
          label="Spend"
          value={data && formatUsd(data.cost_usd)}
          note={data && describeChange(data.change.cost_usd)}
        />
        <Figure
          label="Requests"
          value={data && formatCount(data.requests)}
          note={data && describeChange(data.change.requests)}
        />
        <Figure
          label="Tokens"
          value={data && formatShortCount(data.total_tokens)}
          note={data && describeChange(data.change.total_tokens)}
        />
        <Figure
          label="Error rate"
          value={data && (data.error_rate === null ? 'none' : formatShare(data.error_rate))}
          note={data?.errors && `${formatCount(data.errors.failed)} failed`}
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
