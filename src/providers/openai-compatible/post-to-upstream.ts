import type { FormData } from 'undici'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { UpstreamTimeouts } from '../provider.ts'
import { EventQueue } from './event-queue.ts'
import type {
  AnswerController,
  AnswerHandler,
  AnswerHeaders,
  PostDispatcher,
} from './upstream-http1/post-dispatcher.ts'
import { describeTransportFailure } from './transport-failure.ts'
import { UpstreamError } from '../failures/upstream-error.ts'

const COMPLETE_BYTES_MAX = 64 * 1024 * 1024
const ERROR_BYTES_MAX = 64 * 1024

/** One POST to an upstream. */
export interface WireRequest<Body> {
  readonly provider: string
  readonly path: string
  /** Alternating names and values. */
  readonly headers: string[]
  readonly body: Body
  readonly timeouts: UpstreamTimeouts
  readonly cancellation: Cancellation
  /** Called as soon as the upstream may have started to read the request. */
  readonly onSent?: (() => void) | undefined
}

/** A form is streamed while it is sent. Files on disk are read from there. */
type ExchangeRequest = WireRequest<string | FormData>

export type ExchangeResponse =
  | {
      readonly kind: 'body'
      readonly status: number
      readonly headers: AnswerHeaders
      readonly body: Buffer
    }
  | { readonly kind: 'events'; readonly status: number; readonly events: EventQueue }

/** Sends a POST and returns its answer: complete, or as a queue if the upstream answers with an event stream. */
export function exchange<Body extends string | FormData>(
  dispatcher: PostDispatcher<Body>,
  request: WireRequest<Body>,
): Promise<ExchangeResponse> {
  return new Promise((resolve, reject) => {
    request.cancellation.throwIfCancelled()
    dispatcher.dispatch(
      {
        path: request.path,
        method: 'POST',
        headers: request.headers,
        body: request.body,
        headersTimeout: request.timeouts.firstByteMs,
        bodyTimeout: request.timeouts.idleMs,
      },
      new ExchangeHandler(request, resolve, reject),
    )
  })
}

class ExchangeHandler implements AnswerHandler {
  readonly #request: ExchangeRequest
  readonly #resolve: (response: ExchangeResponse) => void
  readonly #reject: (error: unknown) => void
  #controller: AnswerController | null = null
  #status = 0
  #headers: AnswerHeaders = {}
  #chunks: Buffer[] = []
  #bytes = 0
  #bytesMax = COMPLETE_BYTES_MAX
  #events: EventQueue | null = null

  constructor(
    request: ExchangeRequest,
    resolve: (response: ExchangeResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request
    this.#resolve = resolve
    this.#reject = reject
    request.cancellation.onCancel(this.#onCancel)
  }

  onRequestStart(controller: AnswerController): void {
    this.#controller = controller
    const { cancellation } = this.#request
    if (cancellation.isCancelled) this.#onCancel(cancellation.reason)
  }

  onRequestSent(): void {
    this.#request.onSent?.()
  }

  onResponseStart(controller: AnswerController, status: number, headers: AnswerHeaders): void {
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    if (status >= 400) this.#bytesMax = ERROR_BYTES_MAX
    else if (String(headers['content-type']).startsWith('text/event-stream')) {
      this.#events = new EventQueue({
        controller,
        provider: this.#request.provider,
        firstEventMs: this.#request.timeouts.firstByteMs,
        idleMs: this.#request.timeouts.idleMs,
        onStop: this.#stopListening,
      })
      this.#resolve({ kind: 'events', status, events: this.#events })
    }
  }

  onResponseData(controller: AnswerController, chunk: Buffer): void {
    if (this.#events) {
      this.#events.push(chunk)
      return
    }
    this.#bytes += chunk.length
    if (this.#bytes <= this.#bytesMax) this.#chunks.push(chunk)
    else if (this.#status >= 400) this.#settleBody(controller)
    else controller.abort(this.#invalidAnswer(`it answered with more than ${COMPLETE_BYTES_MAX} bytes`))
  }

  onResponseEnd(): void {
    this.#stopListening()
    if (this.#events) this.#events.end()
    else this.#resolveBody()
  }

  onResponseError(_controller: AnswerController, error: Error): void {
    this.#stopListening()
    const { cancellation } = this.#request
    const failure = cancellation.isCancelled
      ? cancellation.reason
      : describeTransportFailure(this.#request.provider, error, this.#status !== 0)
    if (this.#events) this.#events.fail(failure)
    else this.#reject(failure)
  }

  #resolveBody(): void {
    const [first] = this.#chunks
    const body = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks)
    this.#resolve({ kind: 'body', status: this.#status, headers: this.#headers, body })
  }

  // Only the start of an error page is read.
  #settleBody(controller: AnswerController): void {
    this.#resolveBody()
    controller.abort(this.#invalidAnswer('its error page is too long'))
  }

  #invalidAnswer(what: string): UpstreamError {
    return new UpstreamError(`${this.#request.provider}: ${what}`, {
      failure: 'invalid_answer',
      provider: this.#request.provider,
    })
  }

  readonly #onCancel = (reason: unknown): void => {
    this.#controller?.abort(reason instanceof Error ? reason : new Error('aborted'))
    if (this.#events) this.#events.fail(reason)
    else this.#reject(reason)
  }

  readonly #stopListening = (): void => {
    this.#request.cancellation.offCancel(this.#onCancel)
  }
}
