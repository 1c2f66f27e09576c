import { formatUsd, type NanoUsd } from '../../kernel/money.ts'

/** An amount of money: digits that a number of JavaScript may not keep, and a minus that is no formula. */
export interface CsvAmount {
  readonly nanoUsd: NanoUsd
}

/** Formats one line of CSV (RFC 4180). Text that looks like a spreadsheet formula is escaped. */
export function csvRow(values: readonly (string | number | bigint | CsvAmount | null | undefined)[]): string {
  return `${values.map(toField).join(',')}\r\n`
}

// Spreadsheets run text that starts like this as a formula; an apostrophe before it prevents that.
const FORMULA = /^[=+\-@\t\r\n]/
const NEEDS_QUOTES = /[",\r\n]/

function toField(value: string | number | bigint | CsvAmount | null | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'object') return formatUsd(value.nanoUsd)
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
