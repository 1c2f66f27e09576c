import { isSecureRequest } from '../session-cookie.ts'
import type { RouteRequest } from '../route.ts'
import { baseUrlOf } from './base-url-of.ts'

/** Returns the address of this gateway: the one that the operator set, otherwise the one that the client asked. It has no slash at its end. */
export function publicUrlOf(
  { exchange, headers }: Pick<RouteRequest<unknown, unknown, unknown>, 'exchange' | 'headers'>,
  publicUrl: string | null,
): string {
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, '')
  const asked = baseUrlOf(headers)
  return isSecureRequest(exchange.incoming.headers, null) ? asked.replace(/^http:/, 'https:') : asked
}
