import { Readable } from 'node:stream'
import { FormData, request, type Dispatcher } from 'undici'

import type { HandOver } from '../../batch/hand-over.ts'
import type { UpstreamTimeouts } from '../../provider.ts'
import { UpstreamError, type UpstreamErrorDetails } from '../../failures/upstream-error.ts'
import { describeNetworkError } from './describe-network-error.ts'
import { createEventBound } from '../answer/event-bound.ts'

/** Limits of one call to a vendor, whatever the vendor answers. */
export interface ExchangeLimits {
  readonly completeBytesMax: number
  readonly streamBytesMax: number
  readonly eventBytesMax: number
  /** A vendor's package may poll, or continue a long answer, with further requests. */
  readonly requestsMax: number
}

export const defaultExchangeLimits: ExchangeLimits = {
  completeBytesMax: 64 * 1024 * 1024,
  streamBytesMax: 512 * 1024 * 1024,
  eventBytesMax: 16 * 1024 * 1024,
  requestsMax: 32,
}

/** The content type of the binary event stream of AWS. */
const AWS_EVENT_STREAM = 'application/vnd.amazon.eventstream'
const METHODS = ['GET', 'PUT', 'DELETE'] as const
const ERROR_BODY_BYTES_MAX = 64 * 1024
const EXCERPT_BYTES_MAX = 2_048

export interface ExchangeOptions {
  readonly provider: string
  readonly dispatcher: Dispatcher
  readonly timeouts: UpstreamTimeouts
  readonly limits: ExchangeLimits
  /** The operator's additional headers, as alternating names and values. Not sent to other hosts, from which results are read. */
  readonly headers?: readonly string[]
  readonly expectsEvents: boolean
  readonly signal: AbortSignal
  /** Hands the request over instead of sending it. */
  readonly handOver?: { readonly to: HandOver; readonly baseUrl: string } | undefined
  /** Called before each request. */
  readonly onSent?: (() => void) | undefined
}

/**
 * The requests of one call to a vendor, within its limits and timeouts. Keeps the first cause of a failure, because the vendors'
 * packages wrap and rename errors.
 */
export class UpstreamExchange {
  readonly #options: ExchangeOptions
  readonly #cancellation = new AbortController()
  readonly #signal: AbortSignal
  #failure: UpstreamError | undefined
  #requestsSent = 0
  #origin: string | undefined

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.#signal = AbortSignal.any([options.signal, this.#cancellation.signal])
  }

  /** The transport error, if there was one. */
  get failure(): UpstreamError | undefined {
    return this.#failure
  }

  get wasRequestSent(): boolean {
    return this.#requestsSent > 0
  }

  /** Closes the connection immediately. */
  cancel(): void {
    this.#cancellation.abort()
  }

  /** A `fetch` for the vendors' packages. */
  readonly fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { provider, limits, timeouts, expectsEvents } = this.#options
    this.#requestsSent += 1
    if (this.#requestsSent > limits.requestsMax) {
      throw this.#fail(`${provider} continued its answer too often`, { failure: 'invalid_answer' })
    }
    if (this.#options.handOver !== undefined) return handOverTo(this.#options.handOver, url, init)
    this.#options.onSent?.()
    const sentAtMs = performance.now()
    const answer = await this.#send(url instanceof Request ? url.url : url, init)
    const firstByteMs = Math.max(1, timeouts.firstByteMs - (performance.now() - sentAtMs))
    const isSuccess = answer.statusCode >= 200 && answer.statusCode < 300
    const contentType = String(answer.headers['content-type'])
    const isBinary = contentType.startsWith(AWS_EVENT_STREAM)
    const isEventStream = isBinary || contentType.includes('text/event-stream')
    const bytes = isSuccess
      ? this.#readWithinLimits(answer.body, firstByteMs, { isEventStream, isBinary })
      : this.#readErrorBody(answer.body, firstByteMs)
    if (isSuccess && expectsEvents && !isEventStream) throw await this.#refusePage(bytes)
    const isEmpty = answer.statusCode === 204 || answer.statusCode === 205
    if (isEmpty) await answer.body.dump()
    return new Response(isEmpty ? null : toWebStream(bytes), {
      status: answer.statusCode,
      statusText: answer.statusText,
      headers: toHeaders(answer.headers),
    })
  }

  async #send(url: string | URL, init: RequestInit): Promise<Dispatcher.ResponseData> {
    const { provider, dispatcher, timeouts } = this.#options
    const answer = request(url, {
      method: METHODS.find((method) => method === init.method) ?? 'POST',
      headers: { ...this.#ownHeaders(url), ...Object.fromEntries(new Headers(init.headers)) },
      body: toRequestBody(init.body),
      dispatcher,
      signal: this.#signal,
      // The exchange has its own timers: the agent's are coarse and do not cover the first byte.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    try {
      return await this.#waitFor(answer, timeouts.firstByteMs, 'did not answer')
    } catch (error) {
      throw this.#fail(...describeNetworkError(provider, error))
    }
  }

  #ownHeaders(url: string | URL): Record<string, string> {
    const { headers = [] } = this.#options
    if (headers.length === 0) return {}
    const { origin } = new URL(url)
    this.#origin ??= origin
    if (origin !== this.#origin) return {}
    const own: Record<string, string> = {}
    for (let index = 0; index + 1 < headers.length; index += 2)
      own[headers[index] ?? ''] = headers[index + 1] ?? ''
    return own
  }

  /** Applies a timeout to one wait for the upstream, so that a slow reader does not count. */
  async #waitFor<T>(promise: Promise<T>, timeoutMs: number, what: string): Promise<T> {
    const timer = setTimeout(() => {
      const message = `${this.#options.provider} ${what} within ${Math.round(timeoutMs)} ms`
      this.#cancellation.abort(this.#fail(message, { failure: 'timeout' }))
    }, timeoutMs)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }

  async *#readWithinLimits(
    body: AsyncIterable<Buffer>,
    firstByteMs: number,
    { isEventStream, isBinary }: { readonly isEventStream: boolean; readonly isBinary: boolean },
  ): AsyncGenerator<Buffer> {
    const { provider, limits } = this.#options
    const bytesMax = isEventStream ? limits.streamBytesMax : limits.completeBytesMax
    // Whoever decodes binary events limits each of them.
    const events = isEventStream && !isBinary ? createEventBound(limits.eventBytesMax) : undefined
    let bytesRead = 0
    const isProgress = events === undefined ? undefined : (chunk: Buffer) => events.take(chunk)
    for await (const chunk of this.#read(body, firstByteMs, isProgress)) {
      bytesRead += chunk.length
      if (bytesRead > bytesMax || events?.isExceeded === true) {
        throw this.#fail(`${provider} sent more than an answer can be`, { failure: 'invalid_answer' })
      }
      yield chunk
    }
  }

  async *#readErrorBody(body: AsyncIterable<Buffer>, firstByteMs: number): AsyncGenerator<Buffer> {
    let bytesRead = 0
    for await (const chunk of this.#read(body, firstByteMs)) {
      yield chunk
      bytesRead += chunk.length
      if (bytesRead > ERROR_BODY_BYTES_MAX) return
    }
  }

  /** Limits the time until a chunk with progress. Comments between events are none, and a slow reader does not count. */
  async *#read(
    body: AsyncIterable<Buffer>,
    firstByteMs: number,
    isProgress: (chunk: Buffer) => boolean = () => true,
  ): AsyncGenerator<Buffer> {
    const { provider, timeouts } = this.#options
    const chunks = body[Symbol.asyncIterator]()
    let timeoutMs = firstByteMs
    try {
      for (;;) {
        const askedAtMs = performance.now()
        const next = await this.#waitFor(chunks.next(), timeoutMs, 'sent nothing')
        if (next.done === true) return
        if (isProgress(next.value)) timeoutMs = timeouts.idleMs
        else timeoutMs -= performance.now() - askedAtMs
        if (timeoutMs <= 0) throw this.#fail(`${provider} sent only comments`, { failure: 'timeout' })
        yield next.value
      }
    } catch (error) {
      throw this.#fail(...describeNetworkError(provider, error))
    } finally {
      await chunks.return?.()
    }
  }

  async #refusePage(bytes: AsyncIterable<Buffer>): Promise<UpstreamError> {
    const excerpt = await readExcerpt(bytes)
    return this.#fail(`${this.#options.provider} did not answer with an event stream`, {
      failure: 'invalid_answer',
      ...(excerpt === '' ? {} : { upstreamMessage: excerpt }),
    })
  }

  #fail(message: string, details: Omit<UpstreamErrorDetails, 'provider'>): UpstreamError {
    this.#failure ??= new UpstreamError(message, { provider: this.#options.provider, ...details })
    return this.#failure
  }
}

async function handOverTo(
  { to, baseUrl }: NonNullable<ExchangeOptions['handOver']>,
  url: string | URL | Request,
  { body, headers }: RequestInit,
): Promise<Response> {
  const { href } = new URL(url instanceof Request ? url.url : url)
  const base = baseUrl.replace(/\/+$/, '')
  // A line has no headers, and so none that switches something on.
  const isPlain =
    typeof body === 'string' && ![...new Headers(headers).keys()].some((name) => name.endsWith('-beta'))
  if (!isPlain || !href.startsWith(`${base}/`)) throw new Error('this request cannot be handed over')
  const answer = await to.post({ path: href.slice(base.length), body })
  return new Response(new Uint8Array(answer.body), {
    status: answer.status,
    headers: { 'content-type': 'application/json' },
  })
}

// Web streams are not supported, because no package sends one.
function toRequestBody(body: RequestInit['body']): string | Uint8Array | FormData | Readable | null {
  if (typeof body === 'string' || body instanceof Uint8Array || body instanceof Readable) return body
  return body instanceof globalThis.FormData ? copyForm(body) : null
}

// Undici's `FormData` is a different class than the global one.
function copyForm(form: globalThis.FormData): FormData {
  const copy = new FormData()
  for (const [name, value] of form) copy.append(name, value)
  return copy
}

async function readExcerpt(bytes: AsyncIterable<Buffer>): Promise<string> {
  for await (const chunk of bytes) return chunk.subarray(0, EXCERPT_BYTES_MAX).toString('utf8')
  return ''
}

export function toWebStream<Chunk>(chunks: AsyncGenerator<Chunk>): ReadableStream<Chunk> {
  return new ReadableStream<Chunk>(
    {
      async pull(controller) {
        const next = await chunks.next()
        if (next.done === true) controller.close()
        else controller.enqueue(next.value)
      },
      async cancel() {
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

function toHeaders(raw: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return headers
}
