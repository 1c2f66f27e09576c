import { ImplausibleEntry } from './price-list.ts'

/** Above all that vendors sell: the dearest are at a few hundred dollars. */
const USD_PER_1M_MAX = 10_000
/** A nano-dollar. */
const FINEST_EXPONENT = -9
const NUMBER = /^(\d+)(?:\.(\d+))?(?:e([+-]\d{1,3}))?$/

/** Returns dollars for a million from dollars for one, digit by digit, so that 1.5e-7 becomes 0.15 and not 0.15000000000000002. */
export function perMillion(usd: unknown, field: string): number {
  return checked(shift(numberOf(usd, field), 6), field)
}

/** Returns dollars for a million tokens as the list says them. */
export function asPerMillion(usd: unknown, field: string): number {
  return checked(shift(numberOf(usd, field), 0), field)
}

/** Returns dollars for one of something. */
export function perUnit(usd: unknown, field: string): number {
  return asPerMillion(usd, field)
}

function numberOf(value: unknown, field: string): number {
  // Text that looks like a number is what a renamed or broken field looks like.
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new ImplausibleEntry(`${field} is not a number`)
  if (value < 0) throw new ImplausibleEntry(`${field} is negative`)
  return value
}

interface Decimal {
  readonly digits: string
  readonly exponent: number
}

function shift(value: number, places: number): Decimal {
  const [, whole = '0', fraction = '', power = '0'] = NUMBER.exec(String(value)) ?? []
  return { digits: whole + fraction, exponent: Number(power) - fraction.length + places }
}

function checked({ digits, exponent }: Decimal, field: string): number {
  const significant = digits.replace(/0+$/, '')
  const finest = exponent + digits.length - significant.length
  if (significant.replace(/^0+/, '') === '') return 0
  if (finest < FINEST_EXPONENT) throw new ImplausibleEntry(`${field} is finer than a nano-dollar`)
  const usd = Number(`${digits}e${exponent}`)
  if (usd > USD_PER_1M_MAX) throw new ImplausibleEntry(`${field} is more than $${USD_PER_1M_MAX}`)
  return usd
}
