import {
  CHUNKED,
  invalidAnswer,
  hasHalfLineEnd,
  hexadecimal,
  IS_TEXT,
  readAnswerHead,
  readFields,
  UNTIL_CLOSE,
  type AnswerHead,
} from './answer-head.ts'

const HEAD_BYTES_MAX = 16 * 1024
const INTERIM_HEADS_MAX = 16
const CHUNK_LINE_BYTES_MAX = 1024
/** Numbers of up to twelve hexadecimal digits are exact. */
const CHUNK_DIGITS_MAX = 12
/** A body of known length up to this limit is delivered in one piece. */
const GATHERED_BYTES_MAX = 64 * 1024

const SECTION_END = Buffer.from('\r\n\r\n')
const CR = 0x0d
const LF = 0x0a
const SEMICOLON = 0x3b
/** Event streams are delivered as they arrive, even if their length is known. */
const EVENTS = 'text/event-stream'

/** Receives the parts of an answer in order. May call `stop` at any time. */
export interface AnswerSink {
  onHead(head: AnswerHead): void
  /** The bytes are a copy, which the sink may keep. */
  onBody(bytes: Buffer): void
  /** `isClean`: no bytes follow the answer. Only then may the connection be reused. */
  onEnd(isClean: boolean): void
}

type Stage =
  /** No answer is expected, or the rest of it is not needed. */
  | 'stopped'
  | 'head'
  | 'length'
  | 'gathering'
  | 'until-close'
  | 'chunk-size'
  | 'chunk-extension'
  | 'chunk-size-end'
  | 'chunk-data'
  | 'chunk-data-end'
  | 'trailer'
  | 'chunks-ended'

/** Parses consecutive HTTP/1 answers, regardless of how they are split into packets. */
export class AnswerReader {
  readonly #sink: AnswerSink
  #stage: Stage = 'stopped'
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  #end = 0
  /** The start of a head or trailer whose end has not arrived. */
  #carried = ''
  /** A complete head or trailer. */
  #section: Buffer = this.#bytes
  #sectionFrom = 0
  #sectionEnd = 0
  /** Bytes left of the body or of the chunk. */
  #remaining = 0
  #gathered: Buffer | null = null
  #interims = 0
  #lineBytes = 0

  constructor(sink: AnswerSink) {
    this.#sink = sink
  }

  /** Starts to expect an answer. */
  start(): void {
    this.#stage = 'head'
    this.#carried = ''
    this.#interims = 0
  }

  stop(): void {
    this.#stage = 'stopped'
    this.#gathered = null
  }

  /** Parses the first `length` bytes, and may overwrite them during the call. Throws if they are not a valid answer. */
  read(bytes: Buffer, length: number): void {
    this.#bytes = bytes
    this.#at = 0
    this.#end = length
    while (this.#at < length && this.#stage !== 'stopped') this.#readOn()
  }

  /** Called when the connection has ended. Returns whether that also ended the answer. */
  readEnd(): boolean {
    const isEnd = this.#stage === 'until-close'
    this.stop()
    return isEnd
  }

  #readOn(): void {
    if (this.#stage === 'head') this.#readHead()
    else if (this.#stage === 'gathering') this.#gather()
    else if (this.#stage === 'length') this.#readLength()
    else if (this.#stage === 'until-close') this.#handOver(this.#end)
    else this.#readChunks()
  }

  #readHead(): void {
    if (!this.#takeSection()) return
    const head = readAnswerHead(this.#section, this.#sectionFrom, this.#sectionEnd)
    if (head.status === 101) throw invalidAnswer('it changed to a protocol that nobody asked for')
    if (head.status < 200) return this.#countInterim(head)
    this.#remaining = Math.max(0, head.bodyBytes)
    this.#stage = stageAfter(head)
    this.#lineBytes = 0
    this.#sink.onHead(head)
    if (this.#stage === 'length' && this.#remaining === 0) this.#finish()
  }

  /** Ignores interim answers, unless they are too many or the connection closes after one. */
  #countInterim({ keepAliveMs }: AnswerHead): void {
    if (keepAliveMs === 0) throw invalidAnswer('it closes the connection before its answer')
    this.#interims += 1
    if (this.#interims > INTERIM_HEADS_MAX) throw invalidAnswer('it says too much before its answer')
  }

  #readLength(): void {
    const bytes = Math.min(this.#remaining, this.#end - this.#at)
    this.#remaining -= bytes
    this.#handOver(this.#at + bytes)
    if (this.#remaining === 0 && this.#stage === 'length') this.#finish()
  }

  #gather(): void {
    const isWhole = this.#gathered === null && this.#remaining <= this.#end - this.#at
    if (isWhole) {
      this.#stage = 'length'
      return
    }
    this.#gathered ??= Buffer.allocUnsafe(this.#remaining)
    const bytes = Math.min(this.#remaining, this.#end - this.#at)
    const gathered = this.#gathered
    this.#bytes.copy(gathered, gathered.length - this.#remaining, this.#at, this.#at + bytes)
    this.#at += bytes
    this.#remaining -= bytes
    if (this.#remaining > 0) return
    this.#gathered = null
    this.#sink.onBody(gathered)
    if (this.#stage === 'gathering') this.#finish()
  }

  /** Joins the data of all chunks of one read, in place, and delivers them together. */
  #readChunks(): void {
    const from = this.#at
    let kept = from
    try {
      while (this.#at < this.#end && this.#stage !== 'chunks-ended') {
        if (this.#stage !== 'chunk-data') {
          this.#readChunkFrame()
          continue
        }
        const bytes = Math.min(this.#remaining, this.#end - this.#at)
        if (kept !== this.#at) this.#bytes.copyWithin(kept, this.#at, this.#at + bytes)
        kept += bytes
        this.#at += bytes
        this.#remaining -= bytes
        if (this.#remaining === 0) this.#expectChunkDataEnd()
      }
    } finally {
      // Deliver the valid data that precedes an error.
      if (kept > from) this.#sink.onBody(copyBytes(this.#bytes, from, kept))
    }
    if (this.#stage === 'chunks-ended') this.#finish()
  }

  #readChunkFrame(): void {
    if (this.#stage === 'trailer') {
      if (!this.#takeSection()) return
      readFields(this.#section, this.#sectionFrom + 2, this.#sectionEnd)
      this.#stage = 'chunks-ended'
      return
    }
    const code = this.#bytes[this.#at] ?? 0
    this.#at += 1
    this.#lineBytes += 1
    if (this.#lineBytes > CHUNK_LINE_BYTES_MAX) throw invalidAnswer('the line before a chunk is too long')
    if (this.#stage === 'chunk-size') this.#readChunkSize(code)
    else if (this.#stage === 'chunk-extension') this.#readChunkExtension(code)
    else this.#readLineEnd(code)
  }

  #readChunkSize(code: number): void {
    const digit = hexadecimal(code)
    if (digit !== -1 && this.#lineBytes <= CHUNK_DIGITS_MAX) this.#remaining = this.#remaining * 16 + digit
    else if (digit !== -1 || this.#lineBytes === 1) throw invalidAnswer('a chunk has no size')
    else if (code === SEMICOLON) this.#stage = 'chunk-extension'
    else if (code === CR) this.#stage = 'chunk-size-end'
    else throw invalidAnswer('a chunk has no size')
  }

  #readChunkExtension(code: number): void {
    if (code === CR) this.#stage = 'chunk-size-end'
    else if (IS_TEXT[code] !== 1) throw invalidAnswer('the line before a chunk has a control character')
  }

  #readLineEnd(code: number): void {
    if (this.#stage === 'chunk-data-end' && this.#lineBytes === 1) {
      if (code !== CR) throw invalidAnswer('a chunk is longer than it says')
      return
    }
    if (code !== LF) throw invalidAnswer('a line ends without its second half')
    if (this.#stage === 'chunk-data-end') this.#expectChunkSize()
    else if (this.#remaining > 0) this.#stage = 'chunk-data'
    else this.#expectTrailer()
  }

  #expectChunkSize(): void {
    this.#stage = 'chunk-size'
    this.#remaining = 0
    this.#lineBytes = 0
  }

  #expectChunkDataEnd(): void {
    this.#stage = 'chunk-data-end'
    this.#lineBytes = 0
  }

  // Together with the CRLF of the line before it, even an empty trailer ends like a head.
  #expectTrailer(): void {
    this.#stage = 'trailer'
    this.#carried = '\r\n'
  }

  /** Finds the end of a head or trailer. False if it has not arrived. */
  #takeSection(): boolean {
    if (this.#carried === '') {
      const end = this.#bytes.indexOf(SECTION_END, this.#at)
      // Bytes after `#end` are left over from earlier reads.
      if (end !== -1 && end + 4 <= this.#end && end - this.#at <= HEAD_BYTES_MAX) {
        this.#section = this.#bytes
        this.#sectionFrom = this.#at
        this.#sectionEnd = end
        this.#at = end + 4
        return true
      }
    }
    return this.#takeCarriedSection()
  }

  #takeCarriedSection(): boolean {
    const carriedLength = this.#carried.length
    const until = Math.min(this.#end, this.#at + HEAD_BYTES_MAX + 4 - carriedLength)
    const text = this.#carried + this.#bytes.toString('latin1', this.#at, until)
    const end = text.indexOf('\r\n\r\n', Math.max(0, carriedLength - 3))
    if (end !== -1) {
      this.#section = Buffer.from(text, 'latin1')
      this.#sectionFrom = 0
      this.#sectionEnd = end
      this.#at += end + 4 - carriedLength
      this.#carried = ''
      return true
    }
    if (text.length >= HEAD_BYTES_MAX + 4) throw invalidAnswer('its head or trailer is too long')
    // A server of another protocol might wait for the client forever.
    if (this.#stage === 'head' && !text.startsWith('HTTP/1.') && !'HTTP/1.'.startsWith(text))
      throw invalidAnswer('its answer does not begin as HTTP/1 does')
    if (hasHalfLineEnd(text, Math.max(0, carriedLength - 1)))
      throw invalidAnswer('a line ends without its other half')
    this.#carried = text
    this.#at = until
    return false
  }

  #handOver(until: number): void {
    const bytes = copyBytes(this.#bytes, this.#at, until)
    this.#at = until
    this.#sink.onBody(bytes)
  }

  #finish(): void {
    this.#stage = 'stopped'
    this.#sink.onEnd(this.#at === this.#end)
  }
}

function stageAfter({ bodyBytes, headers }: AnswerHead): Stage {
  if (bodyBytes === CHUNKED) return 'chunk-size'
  if (bodyBytes === UNTIL_CLOSE) return 'until-close'
  const isGathered = bodyBytes <= GATHERED_BYTES_MAX && !String(headers['content-type']).startsWith(EVENTS)
  return isGathered && bodyBytes > 0 ? 'gathering' : 'length'
}

// Allocating and copying is cheaper than `Buffer.from(subarray)`, which creates a view first.
function copyBytes(bytes: Buffer, from: number, until: number): Buffer {
  const copy = Buffer.allocUnsafe(until - from)
  bytes.copy(copy, 0, from, until)
  return copy
}
