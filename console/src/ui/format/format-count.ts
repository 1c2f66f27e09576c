import { formatNumber, numberFormat, pluralOf } from './format-number.ts'

/** Writes a count in full: `12,345`. */
export function formatCount(count: number): string {
  return numberFormat('count', {}).format(count)
}

/** Writes a count in little room: `12.3K`. */
export function formatShortCount(count: number): string {
  if (Math.abs(count) < 10_000) return formatCount(Math.round(count * 100) / 100)
  const rounded = Number(count.toPrecision(3))
  const [from, unit] = SHORT_UNITS.find(([least]) => Math.abs(rounded) >= least) ?? LEAST_UNIT
  return `${numberFormat('short', { maximumSignificantDigits: 3 }).format(rounded / from)}${unit}`
}

const LEAST_UNIT = [1_000, 'K'] as const
/** The same in every language: compact numbers of some, such as `1m`, could be metres or minutes. */
const SHORT_UNITS = [[1e12, 'T'], [1e9, 'B'], [1e6, 'M'], LEAST_UNIT] as const

/** Writes a share of one as per cent: `12.5 %`. */
export function formatShare(share: number): string {
  return `${formatNumber(share * 100, share > 0 && share < 0.1 ? 1 : 0)} %`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** Writes a size in decimal units: `1.2 MB`. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** step
  return `${formatNumber(value, value >= 100 || step === 0 ? 0 : 1)} ${UNITS[step]}`
}

/** A number of things: `1 account`, `2 accounts`, `3 processes`. */
export function formatCountOf(count: number, thing: string, things?: string): string {
  return `${formatCount(count)} ${pluralOf(count, thing, things)}`
}
