import { formatNumber } from '../format/format-number.ts'

interface MemoryBarProps {
  readonly parts: readonly { readonly label: string; readonly gb: number }[]
  readonly availableGb: number
}

const COLOURS = ['bg-accent', 'bg-good', 'bg-warn', 'bg-ink-faint']

/** What fills a memory, part by part. More than there is stands out at the right. */
export function MemoryBar({ parts, availableGb }: MemoryBarProps) {
  const neededGb = parts.reduce((sum, { gb }) => sum + gb, 0)
  const wholeGb = Math.max(neededGb, availableGb)
  const words = parts.map(({ label, gb }) => `${label} ${formatNumber(gb, 1)} GB`)
  return (
    <div className="flex flex-col gap-2">
      <div
        role="img"
        aria-label={`${words.join(', ')} of ${formatNumber(availableGb, 1)} GB`}
        className="relative flex h-4 overflow-hidden rounded bg-hover"
      >
        {parts.map(({ label, gb }, index) => (
          <span
            key={label}
            className={COLOURS[index % COLOURS.length]}
            style={{ width: `${(gb / wholeGb) * 100}%` }}
          />
        ))}
        {neededGb > availableGb && (
          <span
            className="absolute inset-y-0 border-l-2 border-bad bg-bad/40"
            style={{ left: `${(availableGb / wholeGb) * 100}%`, right: 0 }}
          />
        )}
      </div>
      <ul className="tabular flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-soft">
        {parts.map(({ label, gb }, index) => (
          <li key={label} className="flex items-center gap-1.5">
            <span aria-hidden="true" className={`size-2.5 rounded-sm ${COLOURS[index % COLOURS.length]}`} />
            {label} {formatNumber(gb, 1)} GB
          </li>
        ))}
        <li className="ml-auto">
          {formatNumber(neededGb, 1)} of {formatNumber(availableGb, 1)} GB
        </li>
      </ul>
    </div>
  )
}
