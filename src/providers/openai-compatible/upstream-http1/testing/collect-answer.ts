import type { Http1Client } from '../http1-client.ts'
import type { AnswerController, AnswerHandler, AnswerHeaders, Post } from '../post-dispatcher.ts'

export interface CollectedAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: string
}

type Asked = Partial<Omit<Post<string>, 'method'>>

/** Sends a POST and collects its answer. */
export class CollectedExchange implements AnswerHandler {
  readonly answer: Promise<CollectedAnswer>
  /** Resolves when the head has arrived. */
  readonly started: Promise<void>
  bytes = 0
  /** Called with each piece of the body. */
  onPiece: (controller: AnswerController) => void = () => {}
  /** Called at the end of the answer. */
  onFinish: () => void = () => {}
  readonly #answer = Promise.withResolvers<CollectedAnswer>()
  readonly #started = Promise.withResolvers<void>()
  #controller: AnswerController | null = null
  #status = 0
  #headers: AnswerHeaders = {}
  #pieces: Buffer[] = []

  constructor(client: Http1Client, asked: Asked = {}) {
    this.answer = this.#answer.promise
    this.started = this.#started.promise
    // Tests that do not await the answer ignore its failure.
    this.answer.catch(() => {})
    client.dispatch(
      {
        method: 'POST',
        path: '/v1/chat',
        headers: ['content-type', 'application/json'],
        body: '{}',
        headersTimeout: 10_000,
        bodyTimeout: 10_000,
        ...asked,
      },
      this,
    )
  }

  get controller(): AnswerController {
    if (this.#controller === null) throw new Error('the exchange has not started')
    return this.#controller
  }

  /** Returns the error of the exchange. */
  async failure(): Promise<unknown> {
    try {
      return { answered: await this.answer }
    } catch (error) {
      return error
    }
  }

  onRequestStart(controller: AnswerController): void {
    this.#controller = controller
  }

  onResponseStart(_controller: AnswerController, status: number, headers: AnswerHeaders): void {
    this.#status = status
    this.#headers = headers
    this.#started.resolve()
  }

  onResponseData(controller: AnswerController, bytes: Buffer): void {
    this.#pieces.push(bytes)
    this.bytes += bytes.length
    this.onPiece(controller)
  }

  onResponseEnd(): void {
    this.onFinish()
    const body = Buffer.concat(this.#pieces).toString()
    this.#answer.resolve({ status: this.#status, headers: this.#headers, body })
  }

  onResponseError(_controller: AnswerController, error: Error): void {
    this.#answer.reject(error)
  }
}
