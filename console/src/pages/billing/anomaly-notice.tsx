import { useQuery } from '@tanstack/react-query'
import { budgetQuery } from '../../api/account.ts'
import { Icon } from '../../ui/icon.tsx'

/** Says that the day costs more than usual, and why. */
export function AnomalyNotice() {
  const { data } = useQuery(budgetQuery)
  if (!data?.anomaly) return null
  return (
    <p
      role="status"
      className="flex items-center gap-3 rounded-lg border border-line bg-warn-soft px-4 py-2 text-sm"
    >
      <Icon name="warn" className="shrink-0 text-warn" />
      <span>{data.anomaly.summary}</span>
    </p>
  )
}
