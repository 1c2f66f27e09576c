/** A range of days, both of them included: `2026-11-17`. */
export interface DayRange {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

const DAY_MS = 86_400_000

/** Whether it is a day, as the address may have anything. */
export function isDay(text: unknown): text is string {
  return typeof text === 'string' && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
}

/** When a day begins in a time zone. */
export function startOfDay(day: string, zone = 'UTC'): string {
  const utcMs = Date.parse(`${day}T00:00:00Z`)
  // Twice, because the offset at midnight of UTC may be another one than that at midnight of the zone.
  let atMs = utcMs
  for (let round = 1; round <= 2; round += 1) atMs = utcMs - offsetMs(atMs, zone)
  return new Date(atMs).toISOString()
}

/** When the day after it begins, which is the end that the API does not include. */
export function endOfDay(day: string, zone = 'UTC'): string {
  const next = new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS)
  return startOfDay(next.toISOString().slice(0, 'YYYY-MM-DD'.length), zone)
}

/** How many days a range has. Without an end it goes on until today. */
export function daysOf({ since, until }: DayRange): number {
  const endMs = until === undefined ? Date.now() : Date.parse(until) + DAY_MS
  return since === undefined ? Infinity : Math.ceil((endMs - Date.parse(since)) / DAY_MS)
}

function offsetMs(atMs: number, zone: string): number {
  if (zone === 'UTC') return 0
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(atMs)
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value ?? 0)
  const localMs = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return localMs - Math.floor(atMs / 1_000) * 1_000
}
