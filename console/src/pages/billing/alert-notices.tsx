import { useQuery } from '@tanstack/react-query'
import { budgetQuery } from '../../api/account.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Icon } from '../../ui/icon.tsx'

/** Budgets of which a threshold is reached in their present period. */
export function AlertNotices() {
  const { data } = useQuery(budgetQuery)
  const reached = data?.budgets.filter(({ alerted_percent: percent }) => percent !== null) ?? []
  return reached.map(({ period, alerted_percent: percent, spent_usd: spentUsd, limit_usd: limitUsd }) => (
    <p
      key={period}
      role="status"
      className="flex items-center gap-3 rounded-lg border border-line bg-warn-soft px-4 py-2 text-sm"
    >
      <Icon name="warn" className="shrink-0 text-warn" />
      <span>
        {percent} % of the budget of {period === 'day' ? 'today' : 'this month'} was reached. Now{' '}
        {formatUsd(spentUsd)} of {formatUsd(limitUsd)} are spent.
      </span>
    </p>
  ))
}
