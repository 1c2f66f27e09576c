import { AppError, invalidValue } from '../../kernel/app-error.ts'
import type { Caller } from '../../modules/keys/keys.ts'
import type { UnauthenticatedThrottle } from '../../modules/limits/limits.ts'
import { readToken, type Authenticate, type ConfirmationRequired } from '../authenticate.ts'
import { checkNamedPlace, namesPlace } from '../check-named-place.ts'
import type { RequestMessage } from '../message.ts'
import { readSessionCookie } from '../session-cookie.ts'

interface UnauthenticatedGuardOptions {
  readonly throttle: UnauthenticatedThrottle
  readonly authenticate: (token: string, connection: object) => Caller | Promise<Caller>
  /** Returns the caller of a browser's session. */
  readonly authenticateSession: (token: string) => Promise<Caller>
  /** Whether a page of this gateway sent the request, so that its cookie counts. */
  readonly isOfOwnPage: (incoming: RequestMessage) => boolean
  /** Whether the key is cached, so that it needs no database query. */
  readonly isKnownKey: (token: string) => boolean
  readonly addressOf: (incoming: RequestMessage) => string
  readonly onRefused: () => void
  readonly confirmationRequired: ConfirmationRequired
}

export interface UnauthenticatedGuard {
  readonly authenticate: Authenticate
  /** Does the same for a key that is part of the body. Refuses access tokens. */
  readonly authenticateKey: (incoming: RequestMessage, token: string) => Promise<Caller>
  /** Signs in with something else than a key. Failures count like wrong keys, and an address that has to wait is refused. */
  readonly countSignIn: <Result>(incoming: RequestMessage, signIn: () => Promise<Result>) => Promise<Result>
  /** The address of the client, which sessions and the audit log name. */
  readonly addressOf: (incoming: RequestMessage) => string
  /** Counts a request for a page that needs no key. Throws if its address requests too many. */
  readonly admitVisitor: (incoming: RequestMessage) => void
  readonly confirmationRequired: ConfirmationRequired
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
    if (!(error instanceof AppError) || !COUNTED.has(error.code)) return error
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

  const counted = (
    incoming: RequestMessage,
    find: () => Caller | Promise<Caller>,
  ): Caller | Promise<Caller> => {
    try {
      const caller = find()
      if (!(caller instanceof Promise)) return caller
      return caller.catch((error: unknown) => {
        throw noteFailure(incoming, error)
      })
    } catch (error) {
      throw noteFailure(incoming, error)
    }
  }
  const findByKey = (incoming: RequestMessage, token: string): Caller | Promise<Caller> => {
    if (throttle.hasBlocked()) requireTurn(incoming, token)
    return authenticate(token, incoming.socket)
  }
  const findBySession = (incoming: RequestMessage, token: string): Promise<Caller> => {
    if (throttle.hasBlocked()) requireTurn(incoming, token)
    if (options.isOfOwnPage(incoming)) return options.authenticateSession(token)
    const message = "A session counts only for requests of this gateway's own pages. Send an API key."
    throw new AppError('forbidden', message)
  }

  return {
    authenticate: (incoming) => {
      const caller = counted(incoming, () => {
        const session = hasKey(incoming) ? null : readSessionCookie(incoming.headers)
        if (session !== null) return findBySession(incoming, session)
        return findByKey(incoming, readToken(incoming.headers))
      })
      const { headers } = incoming
      if (!namesPlace(headers)) return caller
      return caller instanceof Promise
        ? caller.then((found) => checkNamedPlace(headers, found))
        : checkNamedPlace(headers, caller)
    },
    addressOf,
    confirmationRequired: options.confirmationRequired,
    authenticateKey: async (incoming, token) => {
      const caller = await counted(incoming, () => findByKey(incoming, token))
      // A tool that a person signed in must not become a session, which may do more.
      if (caller.accessToken === undefined) return caller
      throw invalidValue('api_key', 'This is an access token and no API key.')
    },
    async countSignIn(incoming, signIn) {
      const seconds = throttle.secondsToWait(networkOf(addressOf(incoming)))
      if (seconds !== null) throw refuse(seconds)
      return signIn().catch((error: unknown) => {
        throw noteFailure(incoming, error)
      })
    },
    admitVisitor(incoming) {
      const seconds = throttle.noteVisit(networkOf(addressOf(incoming)))
      if (seconds !== null) throw refuse(seconds)
    },
  }
}

const COUNTED: ReadonlySet<string> = new Set([
  'invalid_api_key',
  'invalid_session',
  'invalid_sign_in_code',
  'invalid_grant',
  'invalid_refresh_token',
  'invalid_passkey',
  'invalid_user_code',
])

function hasKey({ headers }: RequestMessage): boolean {
  return (
    headers.authorization !== undefined ||
    headers['x-api-key'] !== undefined ||
    headers['api-key'] !== undefined
  )
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
