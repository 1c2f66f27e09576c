import type { Budget } from '../api/budgets.ts'
import { classNames } from '../ui/class-names.ts'
import { formatUsd } from '../ui/format/format-usd.ts'
import { Time } from '../ui/text/time.tsx'

/** The share of a budget from which it deserves attention. */
const HIGH_SHARE = 0.8
/** Less is a rounding of floats. */
const HELD_MIN_USD = 0.000_001

/** What is spent, held and left of a budget in its present window, and when the next one begins. */
export function BudgetBar({ budget, name }: { readonly budget: Budget; readonly name: string }) {
  const { spent_usd: spentUsd, remaining_usd: leftUsd, raise, resets_at: resetsAt } = budget
  const roomUsd = budget.limit_usd + (raise?.amount_usd ?? 0)
  const heldUsd = Math.max(0, roomUsd - spentUsd - leftUsd)
  const share = shareOf(spentUsd, roomUsd)
  return (
    <div className="flex flex-col gap-1.5">
      <div
        role="meter"
        aria-label={`Spent of ${name}`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
        className="flex h-2 overflow-hidden rounded-full bg-hover"
      >
        <div
          className={classNames('h-full', share < HIGH_SHARE ? 'bg-accent' : 'bg-warn')}
          style={{ width: `${share * 100}%` }}
        />
        <div
          className="h-full bg-line-strong"
          style={{ width: `${Math.min(1 - share, shareOf(heldUsd, roomUsd)) * 100}%` }}
        />
      </div>
      <p className="tabular flex flex-wrap gap-x-4 gap-y-0.5 text-xs text-ink-soft">
        <span>
          {formatUsd(spentUsd)} of {formatUsd(roomUsd)} spent
        </span>
        {heldUsd > HELD_MIN_USD && <span>{formatUsd(heldUsd)} held for work in progress</span>}
        <span>{formatUsd(leftUsd)} left</span>
        {resetsAt !== null && (
          <span>
            starts again <Time at={resetsAt} />
          </span>
        )}
        {raise !== null && (
          <span>
            {formatUsd(raise.amount_usd)} of it is a raise until <Time at={raise.until} form="short" />
          </span>
        )}
      </p>
    </div>
  )
}

function shareOf(amountUsd: number, roomUsd: number): number {
  return roomUsd <= 0 ? 1 : Math.min(1, amountUsd / roomUsd)
}
