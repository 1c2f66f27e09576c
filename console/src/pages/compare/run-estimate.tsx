import { useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { estimateQuery, type RunOrder } from '../../api/compare.ts'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'

interface RunEstimateProps {
  /** Null until there is enough to estimate. */
  readonly order: RunOrder | null
  readonly budgetUsd: number | null
}

/** About what the run would cost and take, before it is made. */
export function RunEstimate({ order, budgetUsd }: RunEstimateProps) {
  const { data, error } = useQuery(estimateQuery(useDeferredValue(order)))
  if (order === null || error || !data) return null
  const { estimated_cost_usd: costUsd, estimated_judge_cost_usd: judgeUsd } = data
  const isShort = budgetUsd !== null && costUsd > budgetUsd
  return (
    <p role="status" className="tabular text-sm text-ink-soft">
      {formatCountOf(data.cells_total, 'answer')}: about {formatUsd(costUsd)}
      {judgeUsd > 0 && `, ${formatUsd(judgeUsd)} of it for the judge`}, and{' '}
      {order.mode === 'batch' ? 'up to a day' : formatDuration(data.estimated_duration_seconds * 1000)}.
      {isShort && <span className="text-warn"> The budget will probably end the run before.</span>}
    </p>
  )
}
