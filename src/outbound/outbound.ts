import type { Cancellation } from '../kernel/cancellation.ts'
import { parseAllowedHosts } from './allowed-hosts.ts'
import { createHostCheck } from './check-host.ts'
import { OutboundFailed, OutboundRefused } from './outbound-error.ts'
import { readBounded } from './read-bounded.ts'
import { createDnsResolver, resolveBySystem, type ResolveHost } from './resolve-host.ts'
import { sendPinned, type PinnedAnswer } from './send-pinned.ts'

export { isAllowedHostEntry } from './allowed-hosts.ts'
export { isPrivateHost } from './is-public-address.ts'
export { OutboundFailed, OutboundRefused } from './outbound-error.ts'

/** Sends requests to URLs from outside: images of clients, results of upstreams, webhooks. */
export interface Outbound {
  /**
   * Resolves with the head of the answer. The caller reads the body, up to the limit. Throws `OutboundRefused` for a URL that is
   * not allowed, and `OutboundFailed` if there is no proper answer. An error status is no failure.
   */
  fetch(request: OutboundRequest): Promise<OutboundResponse>
  /**
   * Throws `OutboundRefused` if the host of the URL is not allowed now. A name that cannot be resolved within two seconds passes: it
   * may exist later, and `fetch` checks again.
   */
  requirePublic(url: URL): Promise<void>
  close(): Promise<void>
}

export interface OutboundRequest {
  readonly url: string
  readonly method?: 'GET' | 'POST'
  /** Sent only to this URL, not to redirect targets. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sends `headers` also to redirect targets, as long as no redirect has left the origin of this URL. */
  readonly keepsHeadersOnOrigin?: boolean
  /** Sent wherever it leads: nothing secret. */
  readonly sharedHeaders?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Limit for the answer's body. */
  readonly bytesMax: number
  /** Limit for the whole request, including the body. */
  readonly timeoutMs: number
  /** Default: 0. Only GET requests are redirected, and each target is checked like the first URL. */
  readonly redirectsMax?: number
  /** Hosts (`name` or `name:port`) that may be private for this request, besides those that the operator allows. */
  readonly trustedHosts?: readonly string[]
  readonly cancellation?: Cancellation
}

interface OutboundResponse {
  readonly status: number
  readonly contentType: string | null
  readonly contentLength: number | null
  /** The first value of a header, by its name in lower case. */
  readonly header: (name: string) => string | null
  /** Keeps its connection until it is read completely, abandoned or discarded. */
  readonly body: AsyncIterable<Uint8Array>
  /** Closes the connection without reading the body. */
  discard(): void
}

interface OutboundOptions {
  /** Hosts that may be private: `name`, `name:port`, an address, or a network such as `10.0.0.0/8`. */
  readonly allowedHosts: readonly string[]
  /** Resolves all names. Default: the system resolver for allowed names, and DNS servers for others. */
  readonly resolveHost?: ResolveHost
}

const RESOLVE_MS_MAX = 2_000
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Creates the client. Each name is resolved once, all its addresses are checked, and the connection uses only those, so a DNS
 * answer that changes afterwards has no effect. Connections are not reused.
 */
export function createOutbound({ allowedHosts, resolveHost }: OutboundOptions): Outbound {
  const resolveAllowed = resolveHost ?? resolveBySystem
  const resolveOther = resolveHost ?? createDnsResolver()
  const allowed = parseAllowedHosts(allowedHosts)
  const running = new Set<AbortController>()

  const follow = async (request: OutboundRequest, signal: AbortSignal): Promise<PinnedAnswer> => {
    const { method = 'GET', redirectsMax = 0 } = request
    const checkHost = createHostCheck({
      allowed,
      trusted: parseAllowedHosts(request.trustedHosts ?? []),
      resolveAllowed,
      resolveOther,
    })
    let url = parseAddress(request.url)
    let hasOwnHeaders = true
    for (let redirects = 0; ; redirects += 1) {
      const addresses = await checkHost(url, signal)
      const isFirst = redirects === 0
      const answer = await sendPinned({
        url,
        addresses,
        method,
        headers: { ...request.sharedHeaders, ...(hasOwnHeaders ? request.headers : {}) },
        body: isFirst ? (request.body ?? null) : null,
        signal,
      })
      const location = REDIRECT_STATUSES.has(answer.status) && method === 'GET' ? answer.location : null
      if (location === null || redirectsMax === 0) return answer
      answer.discard()
      if (redirects >= redirectsMax) throw tooManyRedirects(redirectsMax)
      const target = parseAddress(location, url)
      hasOwnHeaders &&= request.keepsHeadersOnOrigin === true && target.origin === url.origin
      url = target
    }
  }

  return {
    async requirePublic(url) {
      const checkHost = createHostCheck({
        allowed,
        trusted: parseAllowedHosts([]),
        resolveAllowed,
        resolveOther,
      })
      await checkHost(url, AbortSignal.timeout(RESOLVE_MS_MAX)).catch((error: unknown) => {
        if (error instanceof OutboundRefused) throw error
      })
    },

    async fetch(request) {
      const { cancellation, timeoutMs, bytesMax } = request
      cancellation?.throwIfCancelled()
      const controller = new AbortController()
      const { signal } = controller
      const cancel = (reason: unknown): void => controller.abort(reason)
      const timer = setTimeout(() => controller.abort(timedOut(timeoutMs)), timeoutMs)
      const end = (): void => {
        clearTimeout(timer)
        cancellation?.offCancel(cancel)
        running.delete(controller)
      }
      running.add(controller)
      // Also applies to a body that is never read.
      signal.addEventListener('abort', end, { once: true })
      cancellation?.onCancel(cancel)
      try {
        const answer = await follow(request, signal)
        const { status, contentType, contentLength, body } = answer
        const discard = (): void => answer.discard()
        return {
          status,
          contentType,
          contentLength,
          header: answer.header,
          body: readBounded({ body, contentLength, bytesMax, signal, end, discard }),
          discard: () => {
            end()
            discard()
          },
        }
      } catch (error) {
        end()
        throw describeFailure(error, signal)
      }
    },

    async close() {
      for (const controller of running)
        controller.abort(new OutboundFailed('closed', 'The gateway is stopping.'))
    },
  }
}

function parseAddress(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new OutboundRefused('The address is not a URL.')
  const url = new URL(text, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new OutboundRefused('The address must begin with http:// or https://.')
  if (url.username !== '' || url.password !== '')
    throw new OutboundRefused('The address must not hold a user name or password.')
  return url
}

/** Returns the reason of the abort if there is one, instead of the connection error that it caused. */
function describeFailure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof OutboundFailed || error instanceof OutboundRefused) return error
  return new OutboundFailed('unreachable', 'The address could not be reached.', { cause: error })
}

function timedOut(timeoutMs: number): OutboundFailed {
  return new OutboundFailed('timeout', `The address did not answer within ${Math.ceil(timeoutMs / 1000)} s.`)
}

function tooManyRedirects(redirectsMax: number): OutboundFailed {
  return new OutboundFailed('too_many_redirects', `The address redirects more than ${redirectsMax} times.`)
}
