import type { RouteRequest } from '../route.ts'
import { isSecureRequest } from '../session-cookie.ts'
import { baseUrlOf } from './base-url-of.ts'

/** Returns the address of the gateway for the sites of others: the one that the operator configured, otherwise the one that the browser used. */
export function originOf(
  { headers, exchange }: Pick<RouteRequest<unknown, unknown, unknown>, 'headers' | 'exchange'>,
  publicUrl: string | null,
): string {
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, '')
  const origin = baseUrlOf(headers)
  return isSecureRequest(exchange.incoming.headers, publicUrl) ? origin.replace(/^http:/, 'https:') : origin
}
