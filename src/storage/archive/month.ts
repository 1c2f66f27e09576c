/** A month in UTC, in milliseconds since the epoch. The end is not part of it. */
export interface Month {
  /** `2026-08`. */
  readonly name: string
  readonly fromMs: number
  readonly toMs: number
}

/** Rows of a month are written until then: charges of long work, and those that waited for the database. */
const CLOSED_AFTER_MS = 3 * 86_400_000

/** Returns null if the text is no month such as `2026-08`. */
export function parseMonth(text: string): Month | null {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? []
  return year === undefined || month === undefined ? null : monthOf(Number(year), Number(month) - 1)
}

export function monthAt(epochMs: number): Month {
  const time = new Date(epochMs)
  return monthOf(time.getUTCFullYear(), time.getUTCMonth())
}

function monthOf(year: number, index: number): Month {
  const fromMs = Date.UTC(year, index)
  return { name: new Date(fromMs).toISOString().slice(0, 7), fromMs, toMs: Date.UTC(year, index + 1) }
}

/** Months that end before this time are closed. */
export function closedUntil(nowMs: number): number {
  return nowMs - CLOSED_AFTER_MS
}
