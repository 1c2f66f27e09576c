/**
 * Numbers and dates for a person are written as in their language; a program gets plain ones, whatever the language. The words around
 * them are English.
 */
const isForPerson = (): boolean => process.stdout.isTTY

/** Writes a number with as many digits behind the point: `12,345.6` on a screen, `12345.6` in a pipe. */
export function formatNumber(value: number, digits = 0): string {
  if (!isForPerson()) return value.toFixed(digits)
  return value.toLocaleString(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** Writes dollars with this many digits behind the point. */
export function formatDollars(usd: number, digits: number): string {
  if (!isForPerson()) return `$${usd.toFixed(digits)}`
  return usd.toLocaleString(undefined, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

/** Writes the day of a time. */
export function formatDay(atMs: number): string {
  if (!isForPerson()) return new Date(atMs).toISOString().slice(0, 'YYYY-MM-DD'.length)
  return new Date(atMs).toLocaleDateString(undefined, { dateStyle: 'medium' })
}

/** A number of things: `1 prompt`, `2 prompts`. */
export function formatCountOf(count: number, thing: string, things = `${thing}s`): string {
  const form = new Intl.PluralRules('en').select(count) === 'one' ? thing : things
  return `${formatNumber(count)} ${form}`
}
