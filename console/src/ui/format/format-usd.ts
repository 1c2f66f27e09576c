const CENTS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
const WHOLE = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 })

/** Writes an amount of money with as many digits as it takes to tell it from zero: `$12.40`, `$0.0031`. */
export function formatUsd(amountUsd: number): string {
  const size = Math.abs(amountUsd)
  if (size === 0) return '$0.00'
  if (size >= 100_000) return WHOLE.format(amountUsd)
  if (size >= 1) return CENTS.format(amountUsd)
  const digits = Math.min(9, Math.max(2, 2 - Math.floor(Math.log10(size))))
  const text = size.toFixed(digits).replace(/(\.\d\d\d*?)0+$/, '$1')
  return `${amountUsd < 0 ? '-' : ''}$${text}`
}

const NANO_DIGITS = 9
const CENT_DIGITS = 2

/** Writes whole nano-dollars without losing any: `$12.40`, `-$0.000000007`. */
export function formatExactUsd(nanoUsd: string): string {
  const isNegative = nanoUsd.startsWith('-')
  const digits = nanoUsd.replace('-', '').padStart(NANO_DIGITS + 1, '0')
  const whole = Number(digits.slice(0, -NANO_DIGITS)).toLocaleString('en-US')
  const part = digits.slice(-NANO_DIGITS).replace(/0+$/, '').padEnd(CENT_DIGITS, '0')
  return `${isNegative ? '-' : ''}$${whole}.${part}`
}
