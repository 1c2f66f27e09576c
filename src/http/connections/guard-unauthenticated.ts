import { AppError } from '../../kernel/app-error.ts'
import type { Caller } from '../../modules/keys/keys.ts'
import type { UnauthenticatedThrottle } from '../../modules/limits/limits.ts'
import { readToken, type Authenticate } from '../authenticate.ts'
import type { RequestMessage } from '../message.ts'

interface UnauthenticatedGuardOptions {
  readonly throttle: UnauthenticatedThrottle
  readonly authenticate: (token: string, connection: object) => Caller | Promise<Caller>
  /** Whether the key is cached, so that it needs no database query. */
  readonly isKnownKey: (token: string) => boolean
  readonly addressOf: (incoming: RequestMessage) => string
  readonly onRefused: () => void
}

export interface UnauthenticatedGuard {
  readonly authenticate: Authenticate
  /** Counts a request for a page that needs no key. Throws if its address requests too many. */
  readonly admitVisitor: (incoming: RequestMessage) => void
}

/**
 * Throttles addresses that keep sending wrong keys. Requests with a cached key are never throttled. While no address is
 * throttled, a request costs one comparison.
 */
export function createUnauthenticatedGuard(options: UnauthenticatedGuardOptions): UnauthenticatedGuard {
  const { throttle, authenticate, isKnownKey, addressOf, onRefused } = options

  const refuse = (retryAfterSeconds: number): AppError => {
    onRefused()
    const message = `Too many requests without a valid key came from this address. Try again in ${retryAfterSeconds} s.`
    return new AppError('rate_limit_exceeded', message, { retryAfterSeconds })
  }
  const noteFailure = (incoming: RequestMessage, error: unknown): unknown => {
    if (!(error instanceof AppError) || error.code !== 'invalid_api_key') return error
    const network = networkOf(addressOf(incoming))
    const seconds = throttle.secondsToWait(network)
    if (seconds !== null) return refuse(seconds)
    throttle.noteFailure(network)
    return error
  }
  const requireTurn = (incoming: RequestMessage, token: string): void => {
    if (isKnownKey(token)) return
    const network = networkOf(addressOf(incoming))
    const seconds = throttle.secondsToWait(network)
    if (seconds !== null && !throttle.mayLookUp(network)) throw refuse(seconds)
  }

  return {
    authenticate(incoming) {
      try {
        const token = readToken(incoming.headers)
        if (throttle.hasBlocked()) requireTurn(incoming, token)
        const caller = authenticate(token, incoming.socket)
        if (!(caller instanceof Promise)) return caller
        return caller.catch((error: unknown) => {
          throw noteFailure(incoming, error)
        })
      } catch (error) {
        throw noteFailure(incoming, error)
      }
    },
    admitVisitor(incoming) {
      const seconds = throttle.noteVisit(networkOf(addressOf(incoming)))
      if (seconds !== null) throw refuse(seconds)
    },
  }
}

const GROUPS = 8
const NETWORK_GROUPS = 4

/**
 * Returns the network to throttle: an IPv4 address, or the /64 network of an IPv6 address, because one client usually has all of
 * it.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').split('::', 2)
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, GROUPS - first.length - last.length) }, () => '0')
  const groups = tail === undefined ? first : [...first, ...zeros, ...last]
  return `${groups.slice(0, NETWORK_GROUPS).join(':')}::/64`
}
