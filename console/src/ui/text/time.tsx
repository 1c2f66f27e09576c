import { formatLocalTime, formatRelativeTime, formatShortTime, formatUtcTime } from '../format/format-time.ts'
import { Tooltip } from '../overlays/tooltip.tsx'

interface TimeProps {
  /** RFC 3339, or milliseconds since 1970. Null if it has not happened. */
  readonly at: string | number | null | undefined
  /** `relative`: 3 min ago. `short`: date and time. */
  readonly form?: 'relative' | 'short' | undefined
}

/** A point in time, with UTC and local time in a tooltip. */
export function Time({ at, form = 'relative' }: TimeProps) {
  if (at === null || at === undefined) return <span className="text-ink-faint">never</span>
  const atMs = typeof at === 'number' ? at : Date.parse(at)
  const shown = form === 'short' ? formatShortTime(atMs) : formatRelativeTime(atMs)
  return (
    <Tooltip content={<FullTimes atMs={atMs} />}>
      <time dateTime={new Date(atMs).toISOString()} tabIndex={0} className="tabular whitespace-nowrap">
        {shown}
      </time>
    </Tooltip>
  )
}

function FullTimes({ atMs }: { readonly atMs: number }) {
  return (
    <span className="tabular flex flex-col">
      <span>{formatUtcTime(atMs)}</span>
      <span>{formatLocalTime(atMs)}</span>
    </span>
  )
}
