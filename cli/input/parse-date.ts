import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

/** Reads the date of an option, with or without a time. Throws if it is none. */
export function parseDate(option: string, text: string): string {
  const date = new Date(text)
  if (Number.isNaN(date.getTime()))
    throw new CommandFailure(EXIT.usage, `${option} takes a date, such as 2030-01-31.`)
  return date.toISOString()
}

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Reads a date, or how long ago it is: 30m, 6h, 7d. Throws if it is neither. */
export function parseSince(option: string, text: string, nowMs = Date.now()): string {
  const [, count, unit] = /^(\d{1,4})([smhd])$/.exec(text.trim()) ?? []
  if (count !== undefined) return new Date(nowMs - Number(count) * UNITS_MS[unit as 'd']).toISOString()
  const date = new Date(text)
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  throw new CommandFailure(
    EXIT.usage,
    `${option} takes a date, such as 2030-01-31, or how long ago it is, such as 30m, 6h or 7d.`,
  )
}
