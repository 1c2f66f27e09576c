const RETRY_AFTER_SECONDS_MAX = 3600

/** Returns whole seconds from a `retry-after` header, which holds seconds or a date. Null if it holds neither. */
export function parseRetryAfter(
  header: string | string[] | undefined,
  nowMs: number = Date.now(),
): number | null {
  if (typeof header !== 'string') return null
  const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - nowMs) / 1000
  if (!Number.isFinite(seconds)) return null
  return Math.min(Math.max(Math.ceil(seconds), 0), RETRY_AFTER_SECONDS_MAX)
}
