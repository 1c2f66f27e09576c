import { isIP } from 'node:net'
import { AppError } from '../kernel/app-error.ts'
import type { RelyingParty } from '../modules/passkeys/passkeys.ts'
import type { RouteRequest } from './route.ts'

type Headers = RouteRequest<unknown, unknown, unknown>['headers']

/**
 * Returns the site for which browsers make passkeys here: the address that the operator configured, otherwise the one that the request was
 * sent to by a page of its own. Null for an address without a name, for which browsers make none.
 */
export function findRelyingParty(headers: Headers, publicUrl: string | null): RelyingParty | null {
  const address = publicUrl ?? originOf(headers)
  if (!URL.canParse(address)) return null
  const { hostname, origin } = new URL(address)
  if (hostname === '' || hostname.startsWith('[') || isIP(hostname) !== 0) return null
  return { id: hostname, origin }
}

/** Throws if browsers make no passkeys for the address of the gateway. */
export function requireRelyingParty(headers: Headers, publicUrl: string | null): RelyingParty {
  const found = findRelyingParty(headers, publicUrl)
  if (found !== null) return found
  const message =
    'Passkeys need a gateway with a name, such as https://gateway.example.com or http://localhost: browsers make none for an IP address.'
  throw new AppError('invalid_request', message)
}

/** A page sends its origin with every POST. Only pages of this gateway come so far: see `refuseForeignPage`. */
function originOf({ origin, host, 'x-forwarded-proto': protocol }: Headers): string {
  if (typeof origin === 'string' && /^https?:/.test(origin)) return origin
  return `${protocol === 'https' ? 'https' : 'http'}://${String(host ?? '')}`
}
