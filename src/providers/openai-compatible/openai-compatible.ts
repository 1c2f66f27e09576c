import { Pool } from 'undici'
import type { CredentialRing } from '../credential-ring.ts'
import type { InferenceAnswer, InferenceCall, Provider } from '../provider.ts'
import { UpstreamError } from '../upstream-error.ts'
import { exchange, type ExchangeResponse } from './exchange.ts'
import { prepareRequest, type PreparableRequest } from './prepare-request.ts'
import { readErrorPayload } from '../error-payload.ts'
import { readUpstreamError } from './read-upstream-error.ts'
import type { OpenAiCompatibleUpstream } from './upstreams.ts'

const CONNECTIONS_MAX = 1024
const KEEP_ALIVE_MS = 30_000
/** How long a refused credential is left alone while others can answer. */
const CREDENTIAL_REST_MS = 30_000
const CREDENTIAL_TRIES_MAX = 4

interface OpenAiCompatibleOptions {
  readonly upstream: OpenAiCompatibleUpstream
  readonly baseUrl: string
  /** Null when the upstream asks for no key. */
  readonly credentials: CredentialRing | null
  readonly connectTimeoutMs: number
}

/** An upstream that speaks our own wire: bytes go through, only what must change is changed. */
export function createOpenAiCompatibleProvider(
  options: OpenAiCompatibleOptions,
): Provider & { close(): Promise<void> } {
  const { upstream, credentials } = options
  const base = new URL(options.baseUrl)
  const basePath = base.pathname.replace(/\/+$/, '')
  const pool = new Pool(base.origin, {
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: options.connectTimeoutMs },
  })

  const send = async (path: string, call: InferenceCall<PreparableRequest>): Promise<InferenceAnswer> => {
    const body = prepareRequest(upstream, call)
    const triesMax = Math.min(credentials?.size ?? 1, CREDENTIAL_TRIES_MAX)
    for (let tries = 1; ; tries += 1) {
      const credential = credentials?.take() ?? null
      const response = await exchange(pool, {
        provider: upstream.id,
        path: basePath + path,
        headers: requestHeaders(call.requestId, credential),
        body,
        timeouts: call.timeouts,
        cancellation: call.cancellation,
      })
      const isRefused = response.kind === 'body' && isCredentialRefused(response.status)
      if (isRefused && credential !== null) credentials?.rest(credential, CREDENTIAL_REST_MS)
      // Another key of the same upstream may still be good.
      if (!isRefused || tries >= triesMax) return readAnswer(upstream.id, response, call.body.stream === true)
    }
  }

  return {
    id: upstream.id,
    isConfigured: true,
    ...(upstream.localSlots === undefined ? {} : { localSlots: upstream.localSlots }),
    chat: (call) => send('/chat/completions', call),
    ...(upstream.hasLegacyCompletion ? { completion: (call) => send('/completions', call) } : {}),
    close: () => pool.destroy(),
  }
}

/** Names and values in turn: the form that costs least on the way out. */
function requestHeaders(requestId: string, credential: string | null): string[] {
  const headers = ['content-type', 'application/json', 'user-agent', 'parkway', 'x-request-id', requestId]
  if (credential !== null) headers.push('authorization', `Bearer ${credential}`)
  return headers
}

function isCredentialRefused(status: number): boolean {
  return status === 401 || status === 403 || status === 429
}

function readAnswer(provider: string, response: ExchangeResponse, isStream: boolean): InferenceAnswer {
  if (response.kind === 'events') {
    if (!isStream) {
      void response.events.return()
      throw garbage(provider, 'it answered with a stream that was not asked for')
    }
    return { kind: 'stream', batches: response.events, isTerminated: () => response.events.isTerminated }
  }
  if (response.status < 200 || response.status >= 300) throw readUpstreamError({ provider, ...response })
  if (!isStream) return { kind: 'complete', payload: response.body }
  throw readFailedStream(provider, response.body)
}

// A stream was asked for and something else came with a status of 200: at best a reason, at worst an HTML page.
function readFailedStream(provider: string, body: Buffer): UpstreamError {
  try {
    const payload: unknown = JSON.parse(body.toString())
    return (
      readErrorPayload(provider, payload) ?? garbage(provider, 'it answered a stream with one JSON document')
    )
  } catch {
    return garbage(provider, 'it answered a stream with something else')
  }
}

function garbage(provider: string, what: string): UpstreamError {
  return new UpstreamError(`${provider}: ${what}`, { failure: 'garbage', provider })
}
