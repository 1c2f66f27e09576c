import type { FormData, Pool } from 'undici'
import type { HandOver } from '../batch/hand-over.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { CredentialRing } from '../connection/credential-ring.ts'
import { UpstreamError } from '../failures/upstream-error.ts'
import type { UpstreamTimeouts } from '../provider.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { exchange, type ExchangeResponse, type WireRequest } from './post-to-upstream.ts'
import { createHttp1Client } from './upstream-http1/http1-client.ts'
import { createConnector } from '../connection/create-connector.ts'
import type { NetworkPath } from '../connection/network-path.ts'
import { NOTHING_USED, tokensInAdvance, type KeyUse } from '../connection/key-limits.ts'
import { createResendingPool } from '../connection/resending-pool.ts'
import { openBytes, type BytesResponse } from './open-bytes.ts'

/** More than an attempt gets a place for, so that no request waits here behind those of other accounts. */
const CONNECTIONS_MAX = 16_384
/**
 * Keep-alive time if the peer does not announce one: over TLS, and over plain HTTP, where self-hosted servers close idle
 * connections after as little as 5 s.
 */
const KEEP_ALIVE_MS = 30_000
const PLAIN_KEEP_ALIVE_MS = 4_000
/** How long a refused credential is not used while others are available. */
const CREDENTIAL_REST_MS = 30_000
const CREDENTIAL_TRIES_MAX = 4
const NO_KEY = { key: null, use: null }

interface WireClientOptions {
  readonly provider: string
  readonly baseUrl: string
  /** Null if the upstream needs no key. */
  readonly credentials: CredentialRing | null
  /** Sent with every request, as alternating names and values. */
  readonly headers?: readonly string[]
  readonly connectTimeoutMs: number
  readonly path?: NetworkPath | undefined
  /** By default `authorization` with `Bearer`. */
  readonly credentialHeader?: 'x-api-key' | undefined
  /** Writes the headers of a credential instead. */
  readonly signIn?: SignIn | undefined
}

/** Sends requests to one upstream, and retries with another key if one is refused. */
export interface WireClient {
  readonly provider: string
  /** Returns the answer complete or as events. */
  post(path: string, body: string | FormData, call: WireCall): Promise<ExchangeResponse>
  /** Returns the answer as a stream of bytes. */
  open(path: string, body: string, call: WireCall): Promise<BytesResponse>
  close(): Promise<void>
  /** Returns whether it has no connection open. */
  isIdle(): boolean
}

interface WireCall {
  readonly requestId: string
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
  /** Hands the request over instead of sending it. */
  readonly handOver?: HandOver | undefined
  readonly onSent?: (() => void) | undefined
  /** Called with the use of a key that has limits. Whoever calls ends it; without it, it ends at once. */
  readonly onKey?: ((use: KeyUse) => void) | undefined
  /** Additional headers, as alternating names and values. */
  readonly headers?: readonly string[] | undefined
  readonly affinity?: (() => number | null) | undefined
  readonly traceparent?: string | undefined
}

export function createWireClient(options: WireClientOptions): WireClient {
  const { provider, credentials, headers: own = [], signIn } = options
  const base = new URL(options.baseUrl)
  const basePath = base.pathname.replace(/\/+$/, '')
  const triesMax = Math.min(credentials?.size ?? 1, CREDENTIAL_TRIES_MAX)

  const send = async <Body, Response extends { readonly status: number }>(
    sendOnce: (request: WireRequest<Body>) => Promise<Response>,
    path: string,
    body: Body,
    { requestId, timeouts, cancellation, onSent, onKey, headers: more, affinity, traceparent }: WireCall,
  ): Promise<Response> => {
    let hasRenewed = false
    for (let tries = 1; ; tries += 1) {
      const tokens = typeof body === 'string' ? tokensInAdvance(body) : 0
      const taking = credentials?.take(affinity, tokens) ?? NO_KEY
      const { key: credential, use } = taking instanceof Promise ? await taking : taking
      if (use !== null && onKey === undefined) use.end(NOTHING_USED)
      if (use !== null) onKey?.(use)
      const headers = requestHeaders(requestId, typeof body === 'string', more)
      if (traceparent !== undefined) headers.push('traceparent', traceparent)
      if (own.length > 0) headers.push(...own)
      let signed: readonly string[] = []
      if (credential !== null && signIn !== undefined) {
        try {
          signed = await signIn.sign(credential, signable(basePath + path, body))
          headers.push(...signed)
        } catch (error) {
          if (isRefusedSignIn(error)) credentials?.rest(credential, CREDENTIAL_REST_MS)
          if (!isRefusedSignIn(error) || tries >= triesMax) throw error
          use?.end(NOTHING_USED)
          continue
        }
      } else if (credential !== null) pushCredential(headers, credential, options.credentialHeader)
      const response = await sendOnce({
        provider,
        path: basePath + path,
        headers,
        body,
        timeouts,
        cancellation,
        onSent,
      })
      const isRefused = isCredentialRefused(response.status)
      if (
        isRefused &&
        response.status !== 429 &&
        !hasRenewed &&
        credential !== null &&
        signIn?.forget(credential, signed)
      ) {
        // The token may have ended early. A new one is tried once, which is not another credential.
        hasRenewed = true
        tries -= 1
        use?.end(NOTHING_USED)
        continue
      }
      if (isRefused && credential !== null) credentials?.rest(credential, CREDENTIAL_REST_MS)
      // Another key of the same upstream may still work.
      if (!isRefused || tries >= triesMax) return response
      use?.end(NOTHING_USED)
    }
  }

  const signable = (path: string, body: unknown) => ({
    method: 'POST' as const,
    origin: base.origin,
    path,
    body: typeof body === 'string' ? body : '',
  })
  const { sendText, sendForm, openOnce, close, isIdle } = createTransports(base, options)
  return {
    provider,
    post: async (path, body, call) => {
      if (typeof body !== 'string') return send(sendForm, path, body, call)
      if (call.handOver === undefined) return send(sendText, path, body, call)
      return { kind: 'body', headers: {}, ...(await call.handOver.post({ path, body })) }
    },
    open: (path, body, call) => send(openOnce, path, body, call),
    close,
    isIdle,
  }
}

/** Sends frequent requests with the gateway's own HTTP/1 client, and forms and binary answers with undici. */
function createTransports(
  { origin, protocol }: URL,
  { connectTimeoutMs, path = {} }: Pick<WireClientOptions, 'connectTimeoutMs' | 'path'>,
) {
  const keepAliveMs = protocol === 'https:' ? KEEP_ALIVE_MS : PLAIN_KEEP_ALIVE_MS
  const client = createHttp1Client({
    origin,
    connectionsMax: CONNECTIONS_MAX,
    keepAliveMs,
    connectTimeoutMs,
    ...path,
  })
  let pool: Pool | null = null
  const usePool = () =>
    (pool ??= createResendingPool(origin, {
      connections: CONNECTIONS_MAX,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      connect: createConnector(path, connectTimeoutMs),
    }))
  return {
    sendText: (request: WireRequest<string>) => exchange(client, request),
    sendForm: (request: WireRequest<FormData>) => exchange(usePool(), request),
    openOnce: (request: WireRequest<string>) => openBytes(usePool(), request),
    isIdle: () => client.isIdle && (pool === null || pool.stats.connected === 0),
    close: async () => {
      client.close()
      await pool?.destroy()
    },
  }
}

/** Alternating names and values, which is the cheapest form to send. */
function requestHeaders(requestId: string, isJson: boolean, more: readonly string[] | undefined): string[] {
  const headers = ['user-agent', 'parkway', 'x-request-id', requestId]
  // A form sets its own content type, which contains its boundary.
  if (isJson) headers.push('content-type', 'application/json')
  if (more !== undefined) headers.push(...more)
  return headers
}

function pushCredential(headers: string[], credential: string, name: 'x-api-key' | undefined): void {
  if (name === undefined) headers.push('authorization', `Bearer ${credential}`)
  else headers.push(name, credential)
}

function isRefusedSignIn(error: unknown): boolean {
  return error instanceof UpstreamError && error.details.status === 401
}

function isCredentialRefused(status: number): boolean {
  return status === 401 || status === 403 || status === 429
}
