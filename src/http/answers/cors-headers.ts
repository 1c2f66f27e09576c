/** Returns the CORS headers for an origin as alternating names and values. Empty if the origin may not call the API. */
export type CorsHeaders = (origin: string) => readonly string[]

const EXPOSED = [
  'x-request-id',
  'retry-after',
  'idempotent-replayed',
  'original-request',
  ...['cost-usd', 'balance-usd', 'provider', 'model', 'latency-ms', 'data-as-of'].map(
    (name) => `x-gateway-${name}`,
  ),
  ...['limit', 'remaining', 'reset'].flatMap((name) => [
    `x-ratelimit-${name}-requests`,
    `x-ratelimit-${name}-tokens`,
  ]),
]

export const EXPOSED_HEADERS: readonly string[] = EXPOSED

export function createCorsHeaders(origins: readonly string[]): CorsHeaders {
  const isOpen = origins.includes('*')
  const allowed = new Set(origins)
  return (origin) => {
    if (!isOpen && !allowed.has(origin)) return []
    return [
      'access-control-allow-origin',
      isOpen ? '*' : origin,
      'access-control-expose-headers',
      EXPOSED.join(', '),
      ...(isOpen ? [] : ['vary', 'Origin']),
    ]
  }
}
