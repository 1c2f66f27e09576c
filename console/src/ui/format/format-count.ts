import { formatNumber, numberFormat, pluralOf } from './format-number.ts'

/** Writes a count in full: `12,345`. */
export function formatCount(count: number): string {
  return numberFormat('count', {}).format(count)
}

/** Writes a count in little room: `12.3K`. */
export function formatShortCount(count: number): string {
  if (Math.abs(count) < 10_000) return formatCount(Math.round(count * 100) / 100)
  return numberFormat('short', { notation: 'compact', maximumSignificantDigits: 3 }).format(count)
}

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
