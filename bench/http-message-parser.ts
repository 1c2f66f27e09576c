/**
 * A minimal HTTP/1.1 parser for the load generator and the mock upstream: it finds the end of each message and returns its
 * decoded body. Node's own client and server cost several times as much, and both ends of the benchmark share a core.
 */
export class HttpMessageParser {
  readonly #handlers: HttpMessageHandlers
  readonly #isBodyEndedByClose: boolean
  #state: ParserState = 'head'
  #remainingBytes = 0
  #carry: Buffer | undefined

  constructor(handlers: HttpMessageHandlers, { isBodyEndedByClose }: { isBodyEndedByClose: boolean }) {
    this.#handlers = handlers
    this.#isBodyEndedByClose = isBodyEndedByClose
  }

  push(bytes: Buffer): void {
    const buffer = this.#carry === undefined ? bytes : Buffer.concat([this.#carry, bytes])
    this.#carry = undefined
    let offset = 0
    // Every step advances the offset or leaves the rest for the next read, so the buffer's length bounds the loop.
    while (offset < buffer.length) {
      const next = this.#step(buffer, offset)
      if (next === NEEDS_MORE) {
        this.#carry = buffer.subarray(offset)
        if (this.#carry.length > LINE_BYTES_MAX) throw new Error('an HTTP head or chunk line is too long')
        return
      }
      offset = next
    }
  }

  #step(buffer: Buffer, offset: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(buffer, offset)
      case 'sized-body':
      case 'chunk-data':
        return this.#readData(buffer, offset)
      case 'chunk-size':
        return this.#readChunkSize(buffer, offset)
      case 'chunk-end':
        return this.#readChunkEnd(buffer, offset)
      case 'trailer':
        return this.#readTrailer(buffer, offset)
      case 'until-close':
        this.#handlers.onBody(offset === 0 ? buffer : buffer.subarray(offset))
        return buffer.length
    }
  }

  #readHead(buffer: Buffer, offset: number): number {
    const end = buffer.indexOf(HEAD_END, offset)
    if (end < 0) return NEEDS_MORE
    const head = buffer.toString('latin1', offset, end)
    this.#handlers.onHead(head)
    const length = CONTENT_LENGTH.exec(head)?.[1]
    if (length !== undefined) this.#expectSizedBody(Number(length))
    else if (CHUNKED.test(head)) this.#state = 'chunk-size'
    else if (this.#isBodyEndedByClose) this.#state = 'until-close'
    else this.#handlers.onEnd()
    return end + HEAD_END.length
  }

  #expectSizedBody(lengthBytes: number): void {
    this.#remainingBytes = lengthBytes
    if (lengthBytes > 0) this.#state = 'sized-body'
    else this.#endMessage()
  }

  #readData(buffer: Buffer, offset: number): number {
    const end = Math.min(buffer.length, offset + this.#remainingBytes)
    this.#remainingBytes -= end - offset
    this.#handlers.onBody(buffer.subarray(offset, end))
    if (this.#remainingBytes === 0) {
      if (this.#state === 'chunk-data') this.#state = 'chunk-end'
      else this.#endMessage()
    }
    return end
  }

  #readChunkSize(buffer: Buffer, offset: number): number {
    const end = buffer.indexOf(LINE_END, offset)
    if (end < 0) return NEEDS_MORE
    const size = Number.parseInt(buffer.toString('latin1', offset, end), 16)
    if (!Number.isFinite(size)) throw new Error('an HTTP chunk has no size')
    this.#remainingBytes = size
    this.#state = size === 0 ? 'trailer' : 'chunk-data'
    return end + LINE_END.length
  }

  #readChunkEnd(buffer: Buffer, offset: number): number {
    if (buffer.length - offset < LINE_END.length) return NEEDS_MORE
    this.#state = 'chunk-size'
    return offset + LINE_END.length
  }

  #readTrailer(buffer: Buffer, offset: number): number {
    const end = buffer.indexOf(LINE_END, offset)
    if (end < 0) return NEEDS_MORE
    if (end === offset) this.#endMessage()
    return end + LINE_END.length
  }

  #endMessage(): void {
    this.#state = 'head'
    this.#handlers.onEnd()
  }
}

export interface HttpMessageHandlers {
  /** The start line and the headers, without the empty line that ends them. */
  onHead(head: string): void
  onBody(bytes: Buffer): void
  onEnd(): void
}

type ParserState =
  | 'head'
  | 'sized-body'
  | 'chunk-size'
  | 'chunk-data'
  | 'chunk-end'
  | 'trailer'
  | 'until-close'

const NEEDS_MORE = -1
const LINE_BYTES_MAX = 64 * 1024
const HEAD_END = '\r\n\r\n'
const LINE_END = '\r\n'
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i
const CHUNKED = /\r\ntransfer-encoding: *chunked/i
