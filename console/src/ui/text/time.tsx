import {
  formatClockTime,
  formatLocalTime,
  formatRelativeTime,
  formatShortTime,
  formatUtcTime,
} from '../format/format-time.ts'
import { Tooltip } from '../overlays/tooltip.tsx'

interface TimeProps {
  /** RFC 3339, or milliseconds since 1970. Null if it has not happened. */
  readonly at: string | number | null | undefined
  /** `relative`: 3 min ago. `short`: date and time. `clock`: the time of today with seconds, else as `short`. */
  readonly form?: keyof typeof FORMS | undefined
}

const FORMS = { relative: formatRelativeTime, short: formatShortTime, clock: formatClockTime }

/** A point in time, with UTC and local time in a tooltip. */
export function Time({ at, form = 'relative' }: TimeProps) {
  if (at === null || at === undefined) return <span className="text-ink-faint">never</span>
  const atMs = typeof at === 'number' ? at : Date.parse(at)
  const shown = FORMS[form](atMs)
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
