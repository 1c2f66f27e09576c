const EXACT = new Intl.NumberFormat('en-US')
const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

/** Writes a count in full: `12,345`. */
export function formatCount(count: number): string {
  return EXACT.format(count)
}

/** Writes a count in little room: `12.3K`. */
export function formatShortCount(count: number): string {
  return Math.abs(count) < 10_000 ? EXACT.format(Math.round(count * 100) / 100) : SHORT.format(count)
}

/** Writes a share of one as per cent: `12.5 %`. */
export function formatShare(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** Writes a size in decimal units: `1.2 MB`. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** step
  return `${value >= 100 || step === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[step]}`
}

/** A number of things: `1 account`, `2 accounts`. */
export function formatCountOf(count: number, thing: string): string {
  return `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`
}
