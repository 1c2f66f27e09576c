import { EventEmitter } from 'node:events'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ResponseMessage } from '../message.ts'

const LINE_END = Buffer.from('\r\n')
const LAST_CHUNK = Buffer.from('0\r\n\r\n')
const LAST_CHUNK_AFTER_DATA = Buffer.concat([LINE_END, LAST_CHUNK])
const NO_BYTES = Buffer.alloc(0)
/** Characters that would end a header line early. */
const LINE_BREAK = /[\r\n\0]/

/** One HTTP/1.1 response, written to its socket with as little overhead as possible. */
export class FastResponse extends EventEmitter implements ResponseMessage {
  readonly #socket: Socket
  readonly #keepAliveSeconds: number
  statusCode = 200
  headersSent = false
  writableFinished = false
  /** Whether the connection must not be used again. */
  isLast = false
  #isEnded = false
  #isClosed = false
  #isCorked = false
  #isChunked = false
  /** The head, kept until the first bytes of the body, so that both leave in one write. */
  #head = ''

  constructor(socket: Socket, keepAliveSeconds: number) {
    super()
    this.#socket = socket
    this.#keepAliveSeconds = keepAliveSeconds
  }

  get destroyed(): boolean {
    return this.#isClosed || this.#socket.destroyed
  }

  get writableNeedDrain(): boolean {
    return this.#socket.writableNeedDrain
  }

  writeHead(status: number, headers: string[]): this {
    if (this.headersSent) throw new Error('the head of the answer has been written')
    let head = status === 200 ? 'HTTP/1.1 200 OK\r\n' : `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
    let hasLength = false
    for (let index = 0; index + 1 < headers.length; index += 2) {
      const name = headers[index] ?? ''
      const value = headers[index + 1] ?? ''
      if (LINE_BREAK.test(value)) throw new Error(`the header ${name} has more than one line`)
      if (name === 'content-length') hasLength = true
      else if (name === 'connection') this.isLast = true
      head += `${name}: ${value}\r\n`
    }
    this.headersSent = true
    this.statusCode = status
    this.#isChunked = !hasLength
    if (!hasLength) head += 'transfer-encoding: chunked\r\n'
    if (!this.isLast) head += `connection: keep-alive\r\nkeep-alive: timeout=${this.#keepAliveSeconds}\r\n`
    this.#head = `${head}date: ${readDate()}\r\n\r\n`
    return this
  }

  write(bytes: Uint8Array): boolean {
    this.#requireHead()
    if (this.#isEnded || this.destroyed) return false
    if (!this.#isChunked) {
      if (this.#head !== '') this.#socket.write(this.#takeHead(), 'latin1')
      return this.#socket.write(bytes)
    }
    // An empty chunk would be the last one.
    if (bytes.length === 0) return !this.#socket.writableNeedDrain
    return this.#socket.write(this.#formatChunk(bytes, LINE_END))
  }

  /** Returns the rest of a chunked body, so that it leaves in one write. */
  #formatEnd(content: string | Uint8Array | undefined, encoding: 'latin1' | 'utf8'): string | Buffer {
    const bytes = content === undefined ? NO_BYTES : toBytes(content, encoding)
    if (bytes.length > 0) return this.#formatChunk(bytes, LAST_CHUNK_AFTER_DATA)
    return this.#head === '' ? LAST_CHUNK : `${this.#takeHead()}0\r\n\r\n`
  }

  #formatChunk(bytes: Uint8Array, after: Buffer): Buffer {
    const start = `${this.#takeHead()}${bytes.length.toString(16)}\r\n`
    const end = start.length + bytes.length
    const chunk = Buffer.allocUnsafe(end + after.length)
    chunk.write(start, 'latin1')
    chunk.set(bytes, start.length)
    chunk.set(after, end)
    return chunk
  }

  end(content?: string | Uint8Array, encoding: 'latin1' | 'utf8' = 'utf8'): this {
    this.#requireHead()
    if (this.#isEnded || this.destroyed) return this
    if (this.#isChunked) {
      this.#isEnded = true
      this.#socket.write(this.#formatEnd(content, encoding), this.#onWritten)
    } else {
      this.#isEnded = true
      if (typeof content === 'string') {
        this.#socket.write(this.#takeHead() + content, encoding, this.#onWritten)
      } else {
        if (!this.#isCorked) this.cork()
        if (this.#head !== '') this.#socket.write(this.#takeHead(), 'latin1')
        this.#socket.write(content ?? '', this.#onWritten)
      }
    }
    if (this.#isCorked) this.#socket.uncork()
    return this
  }

  cork(): void {
    this.#isCorked = true
    this.#socket.cork()
  }

  destroy(): this {
    this.#socket.destroy()
    return this
  }

  /** Emits `close` once. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.emit('close')
  }

  readonly #onWritten = (error?: Error | null): void => {
    if (error) return
    this.writableFinished = true
    this.close()
  }

  #requireHead(): void {
    if (!this.headersSent) throw new Error('an answer has no body before its head')
  }

  #takeHead(): string {
    const head = this.#head
    this.#head = ''
    return head
  }
}

function toBytes(content: string | Uint8Array, encoding: 'latin1' | 'utf8'): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content, encoding) : content
}

let dateSecond = 0
let dateText = ''

/** Cached for one second. */
function readDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = new Date(second * 1000).toUTCString()
  }
  return dateText
}
