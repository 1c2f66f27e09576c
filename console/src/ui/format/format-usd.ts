import { numberFormat } from './format-number.ts'

const CENT_DIGITS = 2
const NANO_DIGITS = 9

/** Writes an amount of money with as many digits as it takes to tell it from zero: `$12.40`, `$0.0031`. */
export function formatUsd(amountUsd: number): string {
  const size = Math.abs(amountUsd)
  if (size >= 100_000) return dollars(0, 0).format(amountUsd)
  if (size >= 1 || size === 0) return dollars(CENT_DIGITS, CENT_DIGITS).format(size === 0 ? 0 : amountUsd)
  const digits = Math.min(NANO_DIGITS, Math.max(CENT_DIGITS, CENT_DIGITS - Math.floor(Math.log10(size))))
  return dollars(CENT_DIGITS, digits).format(amountUsd)
}

/** Writes the difference of two amounts: `+$12.40`, `−$0.0031`, `same`. */
export function formatSignedUsd(differenceUsd: number): string {
  // The difference of two numbers has digits that no amount has.
  const amountUsd = Math.round(differenceUsd * 10 ** NANO_DIGITS) / 10 ** NANO_DIGITS
  if (amountUsd === 0) return 'same'
  return `${amountUsd > 0 ? '+' : '−'}${formatUsd(Math.abs(amountUsd))}`
}

/** Writes whole nano-dollars without losing any: `$12.40`, `-$0.000000007`. */
export function formatExactUsd(nanoUsd: string): string {
  const isNegative = nanoUsd.startsWith('-')
  const digits = nanoUsd.replace('-', '').padStart(NANO_DIGITS + 1, '0')
  const amount = `${isNegative ? '-' : ''}${digits.slice(0, -NANO_DIGITS)}.${digits.slice(-NANO_DIGITS)}`
  // A decimal text is written exactly; a number would lose digits.
  return dollars(CENT_DIGITS, NANO_DIGITS).format(amount as `${number}`)
}

function dollars(minimumFractionDigits: number, maximumFractionDigits: number): Intl.NumberFormat {
  return numberFormat(`usd ${minimumFractionDigits} ${maximumFractionDigits}`, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits,
    maximumFractionDigits,
  })
}
