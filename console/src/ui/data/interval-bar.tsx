interface IntervalBarProps {
  readonly label: string
  readonly mean: number
  /** Null if there are too few values for an interval. */
  readonly low: number | null
  readonly high: number | null
  /** The ends of the scale, the same for all bars that are compared. */
  readonly from: number
  readonly to: number
  readonly format: (value: number) => string
}

/** A mean with its confidence interval on a scale. */
export function IntervalBar({ label, mean, low, high, from, to, format }: IntervalBarProps) {
  const place = (value: number): string => `${(to > from ? (value - from) / (to - from) : 0.5) * 100}%`
  const words =
    low === null || high === null ? 'too few values for an interval' : `${format(low)} to ${format(high)}`
  return (
    <span className="flex items-center gap-2">
      <span
        role="img"
        aria-label={`${label}: ${format(mean)}, ${words}`}
        className="relative h-4 min-w-16 grow"
      >
        <span className="absolute inset-x-0 top-1/2 h-px bg-line" />
        {low !== null && high !== null && (
          <span
            className="absolute top-1/2 h-1.5 -translate-y-1/2 rounded-full bg-accent/40"
            style={{ left: place(low), width: `calc(${place(high)} - ${place(low)})` }}
          />
        )}
        <span
          className="absolute top-1/2 size-2 -translate-1/2 rounded-full bg-accent"
          style={{ left: place(mean) }}
        />
      </span>
      {low !== null && high !== null && (
        <span className="tabular text-xs whitespace-nowrap text-ink-faint">{words.replace(' to ', '–')}</span>
      )}
    </span>
  )
}
