const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
/** Read once, because asking the browser takes longer than writing a time. */
const ZONE = LOCAL.resolvedOptions().timeZone
const SHORT = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})
const SHORT_WITH_YEAR = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const DAY = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric' })
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

export function formatLocalTime(atMs: number): string {
  return `${LOCAL.format(atMs)} ${ZONE}`
}

export function formatUtcTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** In which zone a chart names its times. */
export type ChartZone = 'UTC' | 'local'

export function formatTimeIn(zone: ChartZone, atMs: number): string {
  return zone === 'UTC' ? formatUtcTime(atMs) : formatLocalTime(atMs)
}

/** What a chart says about its times: `UTC`, `Europe/Zurich`. */
export function nameOfZone(zone: ChartZone): string {
  return zone === 'UTC' ? 'UTC' : ZONE
}

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number, number][] = [
  ['second', 1000, 60],
  ['minute', 60_000, 60],
  ['hour', 3_600_000, 24],
  ['day', 86_400_000, 7],
]

/** Writes how long ago a time was, or its date if that is more than a week. */
export function formatRelativeTime(atMs: number): string {
  const distanceMs = atMs - Date.now()
  for (const [unit, unitMs, countMax] of STEPS) {
    const count = Math.round(distanceMs / unitMs)
    if (Math.abs(count) < countMax)
      return unit === 'second' && Math.abs(count) < 5 ? 'now' : RELATIVE.format(count, unit)
  }
  return DAY.format(atMs)
}

/** Writes date and time in little room, in local time; the year only if it is another one. */
export function formatShortTime(atMs: number): string {
  const isThisYear = new Date(atMs).getFullYear() === new Date().getFullYear()
  return (isThisYear ? SHORT : SHORT_WITH_YEAR).format(atMs)
}

/** Writes the time of today with seconds, and that of another day with its date. */
export function formatClockTime(atMs: number): string {
  const isToday = new Date(atMs).toDateString() === new Date().toDateString()
  return isToday ? CLOCK.format(atMs) : formatShortTime(atMs)
}

const MONTH = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'long', timeZone: 'UTC' })

/** Writes a month: `October 2026` for `2026-10`. Anything else is returned as it is. */
export function formatMonth(name: string): string {
  return /^\d{4}-\d\d$/.test(name) && Number(name.slice(5)) >= 1 && Number(name.slice(5)) <= 12
    ? MONTH.format(Date.parse(`${name}-01T00:00:00Z`))
    : name
}
