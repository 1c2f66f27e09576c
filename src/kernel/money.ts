/**
 * Money as a bigint of nano-dollars: one token can cost less than a micro-dollar, and sums must be exact. Dollars as a number are
 * used only on the wire and in the catalog file.
 */
export type NanoUsd = bigint

const NANO_USD_PER_USD = 1_000_000_000n

/** Converts a dollar amount from outside. Throws a `RangeError` instead of rounding if it has more than nine decimals. */
export function nanoUsdFromUsd(usd: number): NanoUsd {
  if (!Number.isFinite(usd)) throw new RangeError(`not an amount of money: ${usd}`)
  const text = decimalText(usd)
  const match = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(text)
  if (!match) throw new RangeError(`more precise than a nano-dollar: ${usd}`)
  const [, sign = '', whole = '0', fraction = ''] = match
  const amount = BigInt(whole) * NANO_USD_PER_USD + BigInt(fraction.padEnd(9, '0'))
  return sign === '-' ? -amount : amount
}

/** Returns dollars as a number for JSON. Exact for amounts below eight million dollars. */
export function usdFromNanoUsd(amount: NanoUsd): number {
  return Number(formatUsd(amount))
}

const ZERO = 0x30

/** Formats dollars without an exponent and without trailing zeros: `0.000015`. */
export function formatUsd(amount: NanoUsd): string {
  const sign = amount < 0n ? '-' : ''
  const digits = (amount < 0n ? -amount : amount).toString().padStart(10, '0')
  let end = digits.length
  while (end > digits.length - 9 && digits.charCodeAt(end - 1) === ZERO) end -= 1
  const whole = digits.slice(0, -9)
  return end === digits.length - 9 ? sign + whole : `${sign}${whole}.${digits.slice(digits.length - 9, end)}`
}

// JavaScript prints numbers below 1e-6 with an exponent. Prices per character or second are that small.
function decimalText(value: number): string {
  const match = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/.exec(value.toString())
  if (!match) return value.toString()
  const [, sign = '', lead = '', rest = '', exponent = '0'] = match
  return `${sign}0.${'0'.repeat(Number(exponent) - 1)}${lead}${rest}`
}
