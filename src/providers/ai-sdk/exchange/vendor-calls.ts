import { Agent, type Dispatcher } from 'undici'
import { createConnector } from '../../connection/create-connector.ts'
import type { NetworkPath } from '../../connection/network-path.ts'
import { createResendingPool } from '../../connection/resending-pool.ts'

import { systemClock } from '../../../kernel/clock.ts'
import type { HandOver } from '../../batch/hand-over.ts'
import { markKey } from '../../batch/mark-key.ts'
import { createCredentialRing } from '../../connection/credential-ring.ts'
import { NOTHING_USED, type KeyUse } from '../../connection/key-limits.ts'
import type { UpstreamTimeouts } from '../../provider.ts'
import type { UpstreamError } from '../../failures/upstream-error.ts'
import { ringOptionsOf, type AiSdkProviderOptions } from '../lazy-provider.ts'
import { toUpstreamError } from './to-upstream-error.ts'
import { defaultExchangeLimits, UpstreamExchange } from './upstream-exchange.ts'

/** Calls one vendor with the operator's keys, over connections that are kept open. */
export interface VendorCalls {
  /**
   * Runs one upstream call, and retries with another key if one is refused. The caller handles all other retries. Throws only
   * `UpstreamError`, except for a cancelled call, which rejects with its reason.
   */
  attempt<T>(call: VendorCall, run: (session: VendorSession) => Promise<T>): Promise<T>
}

interface VendorCall {
  readonly timeouts: UpstreamTimeouts
  readonly signal: AbortSignal
  readonly onSent?: (() => void) | undefined
  /** Hands the request over instead of sending it, with the address that its path stands behind. */
  readonly handOver?: { readonly to: HandOver; readonly baseUrl: string } | undefined
  /** Treats a successful answer that is not an event stream as invalid. */
  readonly expectsEvents?: boolean
  /** Called with the use of a key that has limits. Whoever calls ends it; without it, it ends at once. */
  readonly onKey?: ((use: KeyUse) => void) | undefined
  /** What a key takes in advance. */
  readonly tokens?: number | undefined
  readonly affinity?: (() => number | null) | undefined
  /** The `markKey` of the key that submitted a job, because vendors show a job only to its own account. */
  readonly keyMark?: string | undefined
}

export interface VendorSession {
  readonly apiKey: string
  readonly exchange: UpstreamExchange
}

export function createVendorCalls(provider: string, options: AiSdkProviderOptions): VendorCalls {
  const { apiKeys, headers = [], clock = systemClock, path = {} } = options
  const limits = { ...defaultExchangeLimits, ...options.limits }
  const keys = createCredentialRing(apiKeys, { ...ringOptionsOf(options), provider, clock })
  const agents = createKeepAliveAgents(path)
  return {
    async attempt(call, run) {
      const { timeouts, signal, onSent, handOver, expectsEvents = false, keyMark } = call
      const markedKey = keyMark === undefined ? undefined : apiKeys.find((key) => markKey(key) === keyMark)
      for (let attempts = 1; ; attempts += 1) {
        signal.throwIfAborted()
        // A job is followed whatever the limits of its key.
        const { key: apiKey, use } =
          handOver !== undefined || markedKey !== undefined
            ? { key: markedKey ?? NO_KEY, use: null }
            : await keys.take(call.affinity, call.tokens)
        if (use !== null && call.onKey === undefined) use.end(NOTHING_USED)
        if (use !== null) call.onKey?.(use)
        const dispatcher = agents.choose(timeouts.connectMs)
        const exchange = new UpstreamExchange({
          provider,
          dispatcher,
          timeouts,
          limits,
          headers,
          expectsEvents,
          signal,
          onSent,
          handOver,
        })
        try {
          return await run({ apiKey, exchange })
        } catch (error) {
          const { wasRequestSent } = exchange
          const failure =
            exchange.failure ?? toUpstreamError(provider, error, { wasRequestSent, nowMs: clock.nowMs() })
          exchange.cancel()
          signal.throwIfAborted()
          if (!isKeyAtFault(failure) || handOver !== undefined) throw failure
          use?.end(NOTHING_USED)
          keys.rest(apiKey, chooseRestMs(failure))
          if (markedKey !== undefined || attempts >= Math.min(keys.size, KEYS_TRIED_MAX)) throw failure
        }
      }
    },
  }
}

/** What is handed over is sent by others, with a key of theirs. */
const NO_KEY = 'none'
const KEYS_TRIED_MAX = 4
const REFUSED_KEY_REST_MS = 60_000
const THROTTLED_KEY_REST_MS = 5_000

function isKeyAtFault({ details: { failure, status } }: UpstreamError): boolean {
  return failure === 'status' && (status === 401 || status === 403 || status === 429)
}

function chooseRestMs({ details: { status, retryAfterSeconds } }: UpstreamError): number {
  if (status !== 429) return REFUSED_KEY_REST_MS
  return Math.min((retryAfterSeconds ?? THROTTLED_KEY_REST_MS / 1000) * 1000, REFUSED_KEY_REST_MS)
}

/** More than an attempt gets a place for, so that no request waits here behind those of other accounts. */
const CONNECTIONS_PER_ORIGIN_MAX = 16_384
const AGENTS_MAX = 8

/** Creates agents that keep connections open between calls. Each connect timeout needs its own agent. */
function createKeepAliveAgents(path: NetworkPath): { choose(connectMs: number): Dispatcher } {
  const agents = new Map<number, Agent>()
  return {
    choose(connectMs) {
      const known =
        agents.get(connectMs) ?? (agents.size >= AGENTS_MAX ? agents.values().next().value : undefined)
      if (known !== undefined) return known
      const agent = new Agent({
        connections: CONNECTIONS_PER_ORIGIN_MAX,
        pipelining: 1,
        keepAliveTimeout: 30_000,
        // Limits the time that the peer announces, because a proxy in between may close the connection earlier.
        keepAliveMaxTimeout: 30_000,
        factory: (origin, options) => createResendingPool(origin, options),
        allowH2: false,
        connect: createConnector(path, connectMs),
      })
      agents.set(connectMs, agent)
      return agent
    },
  }
}
