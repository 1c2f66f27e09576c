import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

/** Reads the date of an option, with or without a time. Throws if it is none. */
export function parseDate(option: string, text: string): string {
  const date = new Date(text)
  if (Number.isNaN(date.getTime()))
    throw new CommandFailure(EXIT.usage, `${option} takes a date, such as 2030-01-31.`)
  return date.toISOString()
}
