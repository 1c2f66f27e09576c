import { createHash, timingSafeEqual } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { AppError } from '../kernel/app-error.ts'
import type { Caller } from '../modules/keys/keys.ts'
import { ofGateway, requireAccess } from './access.ts'
import type { RequestMessage } from './message.ts'

export interface MetricsAccess {
  /** If set, clients without an operator key must send it. */
  readonly token: string | null
  /** Allows every client. */
  readonly isOpen: boolean
  readonly authenticate: (incoming: RequestMessage) => Caller | Promise<Caller>
}

/**
 * Throws unless the client may read the metrics. They show models, providers and routes, so they need the token, an operator key,
 * or a request from this machine.
 */
export async function admitToMetrics(access: MetricsAccess, incoming: RequestMessage): Promise<void> {
  const { authorization } = incoming.headers
  if (access.token !== null) {
    const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
    if (timingSafeEqual(digest(given), digest(access.token))) return
  } else if (access.isOpen || isFromThisMachine(incoming)) return
  if (authorization === undefined) throw new AppError('invalid_api_key', REFUSAL)
  requireAccess(await access.authenticate(incoming), ofGateway('gateway.read'))
}

const REFUSAL =
  'The metrics need the metrics token or a key with the scope `admin`, unless they are read from the same machine.'

/** Headers that a proxy adds. Behind a proxy, the peer address does not identify the client. */
const FORWARDED = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
]
const OWN_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

function isFromThisMachine({ socket, headers }: RequestMessage): boolean {
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false
  // A proxy without such headers still forwards the host name of the request.
  return isLoopback(socket.remoteAddress ?? '') && OWN_HOST.test(headers.host ?? '')
}

function isLoopback(address: string): boolean {
  const unmapped = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
  return unmapped === '::1' || (isIPv4(unmapped) && unmapped.startsWith('127.'))
}

// Compare digests, because a constant-time comparison needs equal lengths.
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
