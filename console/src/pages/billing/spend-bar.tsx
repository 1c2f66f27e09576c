import { classNames } from '../../ui/class-names.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'

interface SpendBarProps {
  readonly label: string
  readonly spentUsd: number
  readonly limitUsd: number
}

/** The share of a budget from which it deserves attention. */
const HIGH_SHARE = 0.8

/** How much of a budget is spent. */
export function SpendBar({ label, spentUsd, limitUsd }: SpendBarProps) {
  const share = limitUsd === 0 ? 1 : Math.min(1, spentUsd / limitUsd)
  return (
    <div className="flex flex-col gap-1">
      <div className="flex justify-between gap-4 text-xs text-ink-soft">
        <span className="first-letter:uppercase">{label}</span>
        <span className="tabular">
          {formatUsd(spentUsd)} of {formatUsd(limitUsd)}
        </span>
      </div>
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
        className="h-1.5 overflow-hidden rounded-full bg-hover"
      >
        <div
          className={classNames('h-full rounded-full', share < HIGH_SHARE ? 'bg-accent' : 'bg-warn')}
          style={{ width: `${share * 100}%` }}
        />
      </div>
    </div>
  )
}
