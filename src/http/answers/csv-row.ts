/** One line of RFC 4180. Text that a spreadsheet would take for a formula is kept from being one. */
export function csvRow(values: readonly (string | number | null | undefined)[]): string {
  return `${values.map(toField).join(',')}\r\n`
}

// A spreadsheet runs what begins like this, whoever wrote it; an apostrophe before it makes it text.
const FORMULA = /^[=+\-@\t\r\n]/
const NEEDS_QUOTES = /[",\r\n]/

function toField(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
