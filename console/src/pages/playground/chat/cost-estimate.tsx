import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError } from '../../../api/api-error.ts'
import { estimateQuery, type RunOrder } from '../../../api/compare.ts'
import { formatUsd } from '../../../ui/format/format-usd.ts'

const PAUSE_MS = 600

/** About what the next message costs, as the gateway estimates it. Nothing while that is not known. */
export function CostEstimate({ order: asked }: { readonly order: RunOrder | null }) {
  const { order, share } = inTwoLanes(asked)
  const [settled, setSettled] = useState<RunOrder | null>(null)
  const text = JSON.stringify(order)
  // A request for every letter would be too many.
  useEffect(() => {
    const timer = setTimeout(() => setSettled(JSON.parse(text) as RunOrder | null), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const [isRefused, setIsRefused] = useState(false)
  const { data, error } = useQuery(estimateQuery(isRefused ? null : settled))
  // The key may not estimate, so no text of this page is worth a request.
  if (!isRefused && error instanceof ApiError && error.status === 403) setIsRefused(true)
  if (order === null || settled === null || error || !data) return null
  return (
    <span role="status" className="tabular text-xs text-ink-faint">
      about {formatUsd(data.estimated_cost_usd * share)}
    </span>
  )
}

/** An estimate takes two lanes at least, which are the same for one model. */
function inTwoLanes(order: RunOrder | null): { order: RunOrder | null; share: number } {
  const lanes = order?.lanes ?? []
  return lanes.length === 1
    ? { order: { ...order, lanes: [...lanes, ...lanes] }, share: 0.5 }
    : { order, share: 1 }
}
