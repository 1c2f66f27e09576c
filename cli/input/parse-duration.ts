import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const

/** Reads the length of time of an option, such as 24h, in seconds. Throws if it is none. */
export function parseDuration(option: string, text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text.trim()) ?? []
  if (count !== undefined) return Number(count) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS]
  if (text.trim() === '0') return 0
  throw new CommandFailure(EXIT.usage, `${option} takes a length of time, such as 30m, 24h or 7d, or 0.`)
}
