import type { Schemas } from '../../api/client.ts'
import type { CompareRun } from '../../api/compare.ts'
import { formatCountOf, formatShare } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Section } from '../../ui/layout/section.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { TradeOffChart, type TradeOffPoint } from './trade-off-chart.tsx'

const BASES = { people: 'votes of people', score: 'scores', judge: 'votes of the judge' } as const
const BADGES = {
  better: { tone: 'good', text: 'a clear winner' },
  no_clear_difference: { tone: 'warn', text: 'no clear difference' },
  not_enough_data: { tone: 'plain', text: 'not enough to tell' },
} as const

/** Which lane to take, in sentences, and a picture of quality against cost and time. */
export function RunVerdict({ run }: { readonly run: CompareRun }) {
  const { verdict } = run
  if (verdict === null) return null
  const { tone, text } = BADGES[verdict.outcome]
  const points = (measure: 'cost_usd' | 'latency_ms'): TradeOffPoint[] =>
    verdict.lanes.flatMap((lane, index) => {
      const amount = lane[measure]
      if (lane.quality === null || amount === null) return []
      const name = run.lanes.find(({ id }) => id === lane.lane_id)?.name ?? ''
      return [
        {
          name,
          index,
          amount,
          quality: lane.quality,
          isChosen: lane.lane_id === verdict.recommended_lane_id,
        },
      ]
    })
  return (
    <Section title="Which one?">
      <div className="flex flex-col gap-4">
        <p className="max-w-prose text-base">{verdict.text}</p>
        <p className="tabular flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-soft">
          <Badge tone={tone}>{text}</Badge>
          {verdict.basis !== null && <span>by {BASES[verdict.basis]}</span>}
          {verdict.confidence !== null && <span>confidence {formatShare(verdict.confidence)}</span>}
          <Agreement agreement={verdict.agreement} />
        </p>
        {points('cost_usd').length > 1 && (
          <div className="grid grid-cols-2 gap-6 max-md:grid-cols-1">
            <TradeOffChart
              title="Quality against the cost of an answer"
              points={points('cost_usd')}
              formatAmount={formatUsd}
            />
            <TradeOffChart
              title="Quality against the time of an answer"
              points={points('latency_ms')}
              formatAmount={formatDuration}
            />
          </div>
        )}
      </div>
    </Section>
  )
}

/** How far the voters agree. Needs two who voted on the same prompt. */
function Agreement({ agreement }: { readonly agreement: Schemas['CompareDecision']['agreement'] }) {
  const { voters, shared, equal_share: equal, krippendorff_alpha: alpha } = agreement
  if (equal === null) return null
  return (
    <span>
      {voters} people voted, {formatShare(equal)} of their votes on {formatCountOf(shared, 'shared question')}{' '}
      agree
      {alpha !== null && `, Krippendorff’s alpha ${alpha.toFixed(2)}`}
    </span>
  )
}
