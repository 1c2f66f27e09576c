import { AppError } from '../../../kernel/app-error.ts'

/** A request of a list, as it stands in the body. */
export interface RawRequest {
  /** From 0. */
  readonly index: number
  readonly content: Buffer
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const COMMA = 0x2c
const COLON = 0x3a
/** The member that has the requests. */
const LIST_KEY = 'requests'
const KEY_BYTES_MAX = 256

/**
 * Splits `{"requests": [...]}` into the texts of the requests, of which one at a time is in memory. Each is parsed by whoever takes it.
 * Here only their ends are found.
 * @param checkMember called with the name of every other member. It throws for one that must not be ignored
 */
export async function* splitRequests(
  pieces: AsyncIterable<Buffer>,
  requestBytesMax: number,
  checkMember: (name: string) => void = () => {},
): AsyncGenerator<RawRequest, void> {
  const scanner = new RequestScanner(requestBytesMax, checkMember)
  for await (const piece of pieces) {
    for (const content of scanner.scan(piece)) yield content
  }
  scanner.end()
}

type Place = 'start' | 'key' | 'colon' | 'value' | 'list' | 'behind member' | 'end'

class RequestScanner {
  readonly #bytesMax: number
  readonly #checkMember: (name: string) => void
  #place: Place = 'start'
  #key = ''
  #hasList = false
  #index = 0
  /** Of the value that is being read: null outside of one. */
  #depth: number | null = null
  #isText = false
  #isEscaped = false
  /** The parts of the value before this piece. Null for one that nobody reads. */
  #parts: Buffer[] | null = null
  #bytes = 0
  /** In a list: whether a comma or the end follows. */
  #isBehindRequest = false

  constructor(bytesMax: number, checkMember: (name: string) => void) {
    this.#bytesMax = bytesMax
    this.#checkMember = checkMember
  }

  *scan(piece: Buffer): Generator<RawRequest, void> {
    for (let at = 0; at < piece.length;) {
      if (this.#depth !== null) {
        const start = at
        at = this.#readValue(piece, at)
        this.#take(piece.subarray(start, at))
        if (this.#depth === null) {
          const ended = this.#endValue()
          if (ended !== null) yield ended
        }
        continue
      }
      const byte = piece[at] ?? 0
      if (isSpace(byte) || (this.#index === 0 && this.#place === 'start' && isMark(byte))) at += 1
      else if (this.#step(byte)) at += 1
    }
  }

  /** Throws if the body ended early, or has no requests. */
  end(): void {
    if (this.#place !== 'end' || this.#depth !== null) throw notJson()
    if (!this.#hasList) throw new AppError('invalid_value', "'requests' is required.", { param: 'requests' })
    if (this.#index === 0)
      throw new AppError('invalid_value', "'requests' must have at least one request.", { param: 'requests' })
  }

  /** Reads a byte outside of values. Returns false if a value begins with it. */
  #step(byte: number): boolean {
    const place = this.#place
    if (place === 'start' && byte === OPEN_OBJECT) this.#place = 'key'
    else if (place === 'key' && byte === QUOTE) return this.#begin(true)
    else if ((place === 'key' || place === 'behind member') && byte === CLOSE_OBJECT) this.#place = 'end'
    else if (place === 'colon' && byte === COLON) this.#place = 'value'
    else if (place === 'behind member' && byte === COMMA) this.#place = 'key'
    else if (place === 'value' && this.#key === LIST_KEY) this.#openList(byte)
    else if (place === 'value' && byte !== COMMA && byte !== CLOSE_OBJECT) return this.#begin(false)
    else if (place === 'list') return this.#stepInList(byte)
    else throw notJson()
    return true
  }

  #openList(byte: number): void {
    if (byte !== OPEN_LIST || this.#hasList)
      throw new AppError('invalid_value', "'requests' must be a list, once.", { param: 'requests' })
    this.#hasList = true
    this.#place = 'list'
  }

  #stepInList(byte: number): boolean {
    if (byte === CLOSE_LIST) this.#place = 'behind member'
    else if (byte === COMMA && this.#isBehindRequest) this.#isBehindRequest = false
    else if (byte === OPEN_OBJECT && !this.#isBehindRequest) return this.#begin(true)
    else throw wrongRequest(this.#index, 'must be an object, with a comma before the next one')
    return true
  }

  #begin(isKept: boolean): false {
    this.#depth = 0
    this.#isText = false
    this.#isEscaped = false
    this.#parts = isKept ? [] : null
    this.#bytes = 0
    return false
  }

  /** Returns where the value or the piece ends. */
  #readValue(piece: Buffer, start: number): number {
    let depth = this.#depth ?? 0
    for (let at = start; at < piece.length; at += 1) {
      const byte = piece[at] ?? 0
      if (this.#isText) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === BACKSLASH) this.#isEscaped = true
        else if (byte === QUOTE) {
          this.#isText = false
          if (depth === 0) return this.#endAt(at + 1)
        }
        continue
      }
      if (byte === QUOTE) this.#isText = true
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        // A number or a word ends before the object around it does.
        if (depth === 0) return this.#endAt(at)
        depth -= 1
        if (depth === 0) return this.#endAt(at + 1)
      } else if (depth === 0 && byte === COMMA) return this.#endAt(at)
    }
    this.#depth = depth
    return piece.length
  }

  #endAt(at: number): number {
    this.#depth = null
    return at
  }

  #take(part: Buffer): void {
    if (this.#parts === null) return
    this.#bytes += part.length
    if (this.#place === 'key' && this.#bytes > KEY_BYTES_MAX) throw notJson()
    if (this.#bytes > this.#bytesMax)
      throw wrongRequest(this.#index, `is longer than ${this.#bytesMax / 1024 / 1024} MB`)
    this.#parts.push(part)
  }

  #endValue(): RawRequest | null {
    const content = this.#parts === null ? null : Buffer.concat(this.#parts)
    this.#parts = null
    if (this.#place === 'key') {
      this.#key = parseKey(content ?? Buffer.alloc(0))
      if (this.#key !== LIST_KEY) this.#checkMember(this.#key)
      this.#place = 'colon'
      return null
    }
    if (this.#place === 'value') {
      this.#place = 'behind member'
      return null
    }
    this.#isBehindRequest = true
    const index = this.#index
    this.#index += 1
    return { index, content: content ?? Buffer.alloc(0) }
  }
}

function parseKey(content: Buffer): string {
  try {
    return String(JSON.parse(content.toString()))
  } catch {
    throw notJson()
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** A byte of the mark that some editors write first. */
function isMark(byte: number): boolean {
  return byte === 0xef || byte === 0xbb || byte === 0xbf
}

function notJson(): AppError {
  return new AppError('invalid_json', 'The body is not a JSON object with a list of requests.')
}

function wrongRequest(index: number, what: string): AppError {
  const param = `requests.${index}`
  return new AppError('invalid_value', `'${param}' ${what}.`, { param })
}
