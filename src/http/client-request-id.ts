import type { IncomingHttpHeaders } from 'node:http'
import { scrubSecrets } from '../telemetry/scrub-secrets.ts'

/** Text that needs no escaping in a log. */
const ID = /^[\w.:/+=@~-]{1,128}$/

/**
 * Returns the client's own id of a request, from `x-client-request-id` or `x-request-id`. It is shown beside ours, and nothing is
 * found by it: another client may send the same one.
 */
export function clientRequestIdOf(headers: IncomingHttpHeaders): string | null {
  const given = headers['x-client-request-id'] ?? headers['x-request-id']
  return typeof given === 'string' && ID.test(given) ? scrubSecrets(given) : null
}
