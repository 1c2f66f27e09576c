import { invalidValue } from '../../kernel/app-error.ts'

/** Parts of the calendar of a time zone. Weeks begin on Monday. */
export const CALENDAR_WINDOWS = ['today', 'yesterday', 'this_week', 'this_month', 'last_month'] as const
export type CalendarWindow = (typeof CALENDAR_WINDOWS)[number]

const DAY_MS = 86_400_000

interface CalendarDay {
  readonly year: number
  /** From 1 on. May be outside of a year, as for `Date.UTC`. */
  readonly month: number
  readonly day: number
}

export interface CalendarRange {
  readonly fromMs: number
  readonly toMs: number
  /** The end is now, although the part of the calendar goes on. */
  readonly isUntilNow: boolean
}

/** Returns the instants of a part of the calendar. Those that still last end now. */
export function calendarRange(window: CalendarWindow, timeZone: string, nowMs: number): CalendarRange {
  const zone = openZone(timeZone)
  const today = zone.dayAt(nowMs)
  const { year, month, day } = today
  const from = (start: CalendarDay): CalendarRange => {
    const fromMs = zone.startOf(start)
    // Not empty exactly at its beginning.
    return { fromMs, toMs: Math.max(nowMs, fromMs + 1), isUntilNow: true }
  }
  const between = (start: CalendarDay, end: CalendarDay): CalendarRange => ({
    fromMs: zone.startOf(start),
    toMs: zone.startOf(end),
    isUntilNow: false,
  })
  switch (window) {
    case 'today':
      return from(today)
    case 'yesterday':
      return between({ year, month, day: day - 1 }, today)
    case 'this_week':
      return from({ year, month, day: day - ((new Date(utcOf(today)).getUTCDay() + 6) % 7) })
    case 'this_month':
      return from({ year, month, day: 1 })
    case 'last_month':
      return between({ year, month: month - 1, day: 1 }, { year, month, day: 1 })
  }
}

function openZone(timeZone: string) {
  const format = createFormat(timeZone)
  /** The wall clock of the zone as if it were UTC. */
  const wallAt = (atMs: number): number => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]))
    const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  }
  const offsetAt = (atMs: number): number => wallAt(atMs) - Math.floor(atMs / 1000) * 1000
  return {
    dayAt: (atMs: number): CalendarDay => {
      const wall = new Date(wallAt(atMs))
      return { year: wall.getUTCFullYear(), month: wall.getUTCMonth() + 1, day: wall.getUTCDate() }
    },
    /** The first instant of a day, which is not midnight where clocks go forward then. */
    startOf: (start: CalendarDay): number => {
      const wanted = utcOf(start)
      const found = [offsetAt(wanted - DAY_MS), offsetAt(wanted + DAY_MS)]
        .map((offset) => wanted - offset)
        .filter((atMs) => Math.floor(wallAt(atMs) / DAY_MS) * DAY_MS === wanted)
      return found.length === 0 ? wanted - offsetAt(wanted) : Math.min(...found)
    },
  }
}

/** Throws for a text that names no time zone. */
export function requireTimeZone(timeZone: string): void {
  createFormat(timeZone)
}

function utcOf({ year, month, day }: CalendarDay): number {
  return Date.UTC(year, month - 1, day)
}

function createFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    throw invalidValue(
      'time_zone',
      'time_zone must be the name of a time zone, such as Europe/Zurich or UTC.',
    )
  }
}
