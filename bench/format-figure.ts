export function formatCount(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return Math.round(value).toLocaleString('en-US')
}

export function formatRatio(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return value >= 100 ? formatCount(value) : value.toFixed(2)
}

export function formatMicroseconds(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return Math.abs(value) < 1000 ? `${Math.round(value)} µs` : `${(value / 1000).toFixed(1)} ms`
}
