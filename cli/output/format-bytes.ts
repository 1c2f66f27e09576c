const UNITS = ['B', 'KB', 'MB', 'GB'] as const

/** Formats a number of bytes for people, such as `12.3 MB`. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1_000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  const amount = bytes / 1_000 ** step
  return `${step === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[step] ?? 'B'}`
}
