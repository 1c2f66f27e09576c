let secondMs = -Infinity
let prefix = ''

/**
 * Returns RFC 3339 with milliseconds. Formats each second once, because formatting a date costs more than the rest of a log line.
 */
export function currentTimestamp(nowMs: number = Date.now()): string {
  const sinceSecondMs = nowMs - secondMs
  if (sinceSecondMs < 0 || sinceSecondMs >= 1_000) {
    secondMs = Math.floor(nowMs / 1_000) * 1_000
    prefix = new Date(secondMs).toISOString().slice(0, 20)
  }
  return `${prefix}${String(nowMs - secondMs).padStart(3, '0')}Z`
}
