import { lookupTable } from '../../kernel/lookup-table.ts'
import type { Wire, WireError } from '../wire.ts'

/** Errors of RFC 6749 and RFC 8628 by our code, where the name differs. */
const NAMES = lookupTable({
  invalid_refresh_token: 'invalid_grant',
  sign_in_ended: 'invalid_grant',
  rate_limit_exceeded: 'slow_down',
  service_unavailable: 'temporarily_unavailable',
})

const OWN_NAMES: ReadonlySet<string> = new Set([
  'authorization_pending',
  'slow_down',
  'access_denied',
  'expired_token',
  'invalid_grant',
  'invalid_scope',
  'invalid_target',
  'unsupported_grant_type',
])

/** Errors as clients of OAuth read them. Nothing is cached, because answers contain secrets. */
export const oauthWire: Wire = {
  id: 'oauth',
  formatError: (error) => ({ error: nameOf(error), error_description: error.message }),
  headersOf: () => ['cache-control', 'no-store', 'pragma', 'no-cache'],
  keepAlive: Buffer.alloc(0),
  isWholeStream: () => true,
  openStream: () => {
    throw new Error('no answer of OAuth is a stream')
  },
}

function nameOf({ code, status }: WireError): string {
  if (OWN_NAMES.has(code)) return code
  return NAMES[code] ?? (status >= 500 ? 'server_error' : 'invalid_request')
}
