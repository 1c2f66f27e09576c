import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

/** Reads the whole number of an option. Throws if it is none, or outside of its range. */
export function parseWhole(option: string, text: string, { min = 1, max = 10_000 } = {}): number {
  const value = Number(text)
  if (/^\d+$/.test(text.trim()) && value >= min && value <= max) return value
  throw new CommandFailure(EXIT.usage, `${option} takes a whole number from ${min} to ${max}.`)
}

/** Reads a number of an option that may have decimals. Throws if it is none: without it a request would use, and charge, a default. */
export function parseDecimal(option: string, text: string): number {
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text.trim())) return Number(text)
  throw new CommandFailure(EXIT.usage, `${option} takes a number, such as 4.`)
}

/** Reads an amount in dollars, with or without the sign. Throws if it is none. */
export function parseUsd(option: string, text: string): number {
  const digits = /^([+-]?)\$?(\d{1,9}(?:\.\d{1,9})?)$/.exec(text.trim())
  if (digits === null)
    throw new CommandFailure(EXIT.usage, `${option} takes an amount in dollars, such as 12.50.`)
  return Number(`${digits[1]}${digits[2]}`)
}
