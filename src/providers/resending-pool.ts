import { Client, FormData, Pool, type Dispatcher } from 'undici'

type DispatchOptions = Dispatcher.DispatchOptions
type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController
type AnswerHeaders = Parameters<NonNullable<Handler['onResponseEnd']>>[1]

const LEFT_CODES: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/** Connections to one origin that send again what was lost with one that its peer had left. */
export function createResendingPool(origin: string | URL, options: Pool.Options): Pool {
  return new Pool(origin, { ...options, factory: (of, one) => new ResendingClient(of, one) })
}

/**
 * One connection of undici's. A request is sent again, on a connection of its own, when the used one was closed before a byte of the
 * answer came: the peer had left it while it rested, which says nothing about the peer.
 */
class ResendingClient extends Client {
  readonly #origin: URL
  readonly #options: Client.Options
  /** How many requests its present connection has answered. */
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
      // Ends with its one request.
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
  /** Null where the body can be read only once. */
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
