import { Client, FormData, Pool, type Dispatcher } from 'undici'

type DispatchOptions = Dispatcher.DispatchOptions
type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController
type AnswerHeaders = Parameters<NonNullable<Handler['onResponseEnd']>>[1]

const LEFT_CODES: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/** Creates a pool of connections to one origin that retries a request if the peer had already closed its idle connection. */
export function createResendingPool(origin: string | URL, options: Pool.Options): Pool {
  return new Pool(origin, { ...options, factory: (of, one) => new ResendingClient(of, one) })
}

/**
 * One undici connection. Retries a request on a new connection if a reused connection was closed before the first byte of the
 * answer: the peer had closed it while it was idle, which is not a failure of the peer.
 */
class ResendingClient extends Client {
  readonly #origin: URL
  readonly #options: Client.Options
  /** Number of requests answered on the current connection. */
  #answered = 0

  constructor(origin: URL, options: Client.Options) {
    super(origin, options)
    this.#origin = origin
    this.#options = options
    this.on('connect', this.#startAnew)
    this.on('disconnect', this.#startAnew)
  }

  override dispatch(options: DispatchOptions, handler: Handler): boolean {
    const resend = (): void => {
      const client = new Client(this.#origin, this.#options)
      client.dispatch({ ...options, reset: true }, handler)
      // Closes after its only request.
      void client.close()
    }
    const listener = new ResendingHandler(handler, {
      isUsed: () => this.#answered > 0,
      onAnswered: () => {
        this.#answered += 1
      },
      resend: isRepeatable(options.body) ? resend : null,
    })
    return super.dispatch(options, listener)
  }

  readonly #startAnew = (): void => {
    this.#answered = 0
  }
}

interface ResendOptions {
  readonly isUsed: () => boolean
  readonly onAnswered: () => void
  /** Null if the body can be read only once. */
  readonly resend: (() => void) | null
}

class ResendingHandler implements Handler {
  readonly #handler: Handler
  readonly #options: ResendOptions
  #wasUsed = false
  #hasAnswered = false

  constructor(handler: Handler, options: ResendOptions) {
    this.#handler = handler
    this.#options = options
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#wasUsed = this.#options.isUsed()
    this.#handler.onRequestStart?.(controller, context)
  }

  onResponseStarted(): void {
    this.#hasAnswered = true
    this.#handler.onResponseStarted?.()
  }

  onResponseStart(controller: Controller, status: number, headers: AnswerHeaders, message?: string): void {
    this.#hasAnswered = true
    this.#handler.onResponseStart?.(controller, status, headers, message)
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#handler.onResponseData?.(controller, chunk)
  }

  onResponseEnd(controller: Controller, trailers: AnswerHeaders): void {
    this.#options.onAnswered()
    this.#handler.onResponseEnd?.(controller, trailers)
  }

  onResponseError(controller: Controller, error: Error): void {
    const { resend } = this.#options
    const isLeft = this.#wasUsed && !this.#hasAnswered && !controller.aborted && LEFT_CODES.has(codeOf(error))
    if (isLeft && resend !== null) resend()
    else this.#handler.onResponseError?.(controller, error)
  }
}

function isRepeatable(body: DispatchOptions['body']): boolean {
  return (
    body === null ||
    body === undefined ||
    typeof body === 'string' ||
    body instanceof Uint8Array ||
    body instanceof FormData
  )
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}
