import { formatDay } from './format-number.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Longer ago, the date tells more. */
const RELATIVE_DAYS_MAX = 60

const UNITS = [
  { name: 'day', ms: DAY_MS },
  { name: 'h', ms: HOUR_MS },
  { name: 'min', ms: MINUTE_MS },
  { name: 's', ms: 1_000 },
] as const

/** Formats a timestamp of the API for people: `12 s ago`, `in 3 days`, `2030-01-31`. Returns a text that is none as it is. */
export function formatRelative(timestamp: string, nowMs: number): string {
  const atMs = Date.parse(timestamp)
  if (Number.isNaN(atMs)) return timestamp
  const distanceMs = Math.abs(nowMs - atMs)
  if (distanceMs >= RELATIVE_DAYS_MAX * DAY_MS) return formatDay(atMs)
  const unit = UNITS.find(({ ms }) => distanceMs >= ms)
  if (unit === undefined) return 'now'
  const count = Math.floor(distanceMs / unit.ms)
  const span = `${count} ${unit.name === 'day' && count !== 1 ? 'days' : unit.name}`
  return atMs > nowMs ? `in ${span}` : `${span} ago`
}

/** The timestamp of a time in seconds, as lists of the organization have them. `-` for null. */
export function timestampOf(seconds: number | null | undefined): string {
  return seconds === null || seconds === undefined ? '-' : new Date(seconds * 1_000).toISOString()
}
