import { request, type ClientRequest } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

export interface WrittenRequest {
  readonly path: string
  readonly text: string
  readonly contentType?: string
}

export interface Answered {
  /** Null if the connection was closed before the status arrived. */
  readonly status: number | null
  readonly text: string
}

/** A request that can be left at any byte. */
export class SentRequest {
  readonly answered: Promise<Answered>
  readonly #outgoing: ClientRequest
  #text = ''
  #isOver = false

  constructor(
    baseUrl: string,
    key: string,
    { path, text, contentType }: WrittenRequest,
    headers: object = {},
  ) {
    const { promise, resolve } = Promise.withResolvers<Answered>()
    this.answered = promise
    const over = (status: number | null) => {
      this.#isOver = true
      resolve({ status, text: this.#text })
    }
    this.#outgoing = request(baseUrl + path, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': contentType ?? 'application/json',
        'anthropic-version': '2023-06-01',
        ...headers,
      },
    })
    this.#outgoing.on('error', () => over(null))
    this.#outgoing.on('response', (response) => {
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        this.#text += piece
      })
      response.on('error', () => {})
      response.on('close', () => over(response.statusCode ?? null))
    })
    this.#outgoing.end(text)
  }

  /** What has arrived so far. */
  get text(): string {
    return this.#text
  }

  /** Waits until so many characters of the answer's text have arrived. */
  async received(length: number): Promise<void> {
    while (!this.#isOver && textLength(this.#text) < length) await delay(POLL_MS)
  }

  leave(): void {
    this.#outgoing.destroy()
  }
}

const POLL_MS = 5
/** The pieces of text in the events of all wires. */
const PIECES = /"(?:content|text|delta)":"((?:[^"\\]|\\.)*)"/g

function textLength(events: string): number {
  let length = 0
  for (const [, piece = ''] of events.matchAll(PIECES)) length += piece.length
  return length
}
