import type { Cancellation } from '../kernel/cancellation.ts'
import { parseAllowedHosts } from './allowed-hosts.ts'
import { createHostCheck } from './check-host.ts'
import { OutboundFailed, OutboundRefused } from './outbound-error.ts'
import { readBounded } from './read-bounded.ts'
import { createDnsResolver, resolveBySystem, type ResolveHost } from './resolve-host.ts'
import { sendPinned, type PinnedAnswer } from './send-pinned.ts'

export { isAllowedHostEntry } from './allowed-hosts.ts'
export { OutboundFailed, OutboundRefused } from './outbound-error.ts'

/** Requests to addresses that came from outside: a client's image, an upstream's result, a webhook. */
export interface Outbound {
  /**
   * Resolves with the head of the answer; the body is read by the caller, up to the bound. Throws an `OutboundRefused` for an
   * address that is not allowed and an `OutboundFailed` for one that does not answer as it should. A status is no failure.
   */
  fetch(request: OutboundRequest): Promise<OutboundResponse>
  close(): Promise<void>
}

export interface OutboundRequest {
  readonly url: string
  readonly method?: 'GET' | 'POST'
  /** Sent to this address only, not to where it redirects. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Of the answer's body. */
  readonly bytesMax: number
  /** For all of it. */
  readonly timeoutMs: number
  /** None unless told, and only of a GET; each is checked like the first address. */
  readonly redirectsMax?: number
  /** Hosts (`name` or `name:port`) that may be private for this one request, beside those the operator allows. */
  readonly trustedHosts?: readonly string[]
  readonly cancellation?: Cancellation
}

interface OutboundResponse {
  readonly status: number
  readonly contentType: string | null
  readonly contentLength: number | null
  /** Holds its connection until it is read, left, or discarded. */
  readonly body: AsyncIterable<Uint8Array>
  /** For who does not want the body. */
  discard(): void
}

interface OutboundOptions {
  /** What may be private: `name`, `name:port`, an address, or a network such as `10.0.0.0/8`. */
  readonly allowedHosts: readonly string[]
  /** Of all names, instead of the system for allowed ones and name servers for others. */
  readonly resolveHost?: ResolveHost
}

const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Each address is resolved once, every address of the answer is checked, and the connection goes to those and to no other: a
 * name that means something else a moment later changes nothing. No connection is kept for another request.
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
    for (let redirects = 0; ; redirects += 1) {
      const addresses = await checkHost(url, signal)
      const isFirst = redirects === 0
      const answer = await sendPinned({
        url,
        addresses,
        method,
        headers: isFirst ? (request.headers ?? {}) : {},
        body: isFirst ? (request.body ?? null) : null,
        signal,
      })
      const location = REDIRECT_STATUSES.has(answer.status) && method === 'GET' ? answer.location : null
      if (location === null || redirectsMax === 0) return answer
      answer.discard()
      if (redirects >= redirectsMax) throw tooManyRedirects(redirectsMax)
      url = parseAddress(location, url)
    }
  }

  return {
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
      // Also for a body that nobody reads.
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

/** What ended it counts, not how the connection put it. */
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
