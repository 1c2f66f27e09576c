/** The payload that ends a stream of events before the connection ends. */
const DONE = Buffer.from('[DONE]')
const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const COLON = 0x3a
/** Overhead counted for each line and chunk, so that many small ones reach the limits too. */
const LINE_BYTES = 64
const FIELD_START_BYTES = 'data: '.length

/** The bytes that may arrive between two events, as a multiple of the largest event. A flood of comments exceeds it. */
const QUIET_EVENTS_MAX = 2

export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge'
}

/**
 * Splits the bytes of a Server-Sent Events stream into the payloads of its `data` fields. Drops comments and other fields. A
 * payload that lies completely in one chunk is a view of that chunk, not a copy.
 */
export class EventSplitter {
  /** True once `[DONE]` was read. Everything after it is ignored. */
  isDone = false
  readonly #eventBytesMax: number
  /** Parts of a line whose end has not arrived. */
  #partialLine: Buffer[] = []
  #partialBytes = 0
  /** Data lines of an event whose closing empty line has not arrived. */
  #dataLines: Buffer[] = []
  #dataBytes = 0
  /** Whether the last chunk ended inside a comment, which is skipped and not kept. */
  #isInComment = false
  /** Bytes since the last event, and overhead. */
  #quietBytes = 0

  constructor(options: { eventBytesMax: number }) {
    this.#eventBytesMax = options.eventBytesMax
  }

  push(chunk: Buffer): Buffer[] {
    const payloads = this.#takeLines(chunk)
    if (payloads.length > 0) this.#quietBytes = 0
    else this.#countQuiet(chunk.length)
    return payloads
  }

  #takeLines(chunk: Buffer): Buffer[] {
    const payloads: Buffer[] = []
    let start = 0
    while (!this.isDone && start < chunk.length) {
      const isComment = this.#isInComment || (this.#partialBytes === 0 && chunk[start] === COLON)
      const end = chunk.indexOf(NEWLINE, start)
      if (!isComment && this.#isWholeEvent(chunk, start, end)) {
        payloads.push(chunk.subarray(start + FIELD_START_BYTES, end))
        start = end + 2
        continue
      }
      if (isComment) this.#isInComment = end === -1
      else if (end === -1) this.#keepPartial(chunk.subarray(start))
      else if (end === start && this.#partialBytes === 0) this.#closeEvent(payloads)
      else this.#takeLine(this.#completeLine(chunk.subarray(start, end)), payloads)
      if (end === -1) break
      this.#quietBytes += LINE_BYTES
      start = end + 1
    }
    return payloads
  }

  #countQuiet(bytes: number): void {
    this.#quietBytes += bytes + LINE_BYTES
    const bytesMax = QUIET_EVENTS_MAX * this.#eventBytesMax
    if (this.#quietBytes > bytesMax) throw new EventTooLarge(`more than ${bytesMax} bytes have no event`)
  }

  /**
   * Fast path: whether this line is an event of one `data` field and its closing empty line follows, which is what most upstreams
   * send. A payload that starts with `[` may be `[DONE]`, which the general path handles.
   */
  #isWholeEvent(chunk: Buffer, start: number, end: number): boolean {
    const payloadStart = start + FIELD_START_BYTES
    return (
      end > payloadStart &&
      chunk[end + 1] === NEWLINE &&
      isDataField(chunk, start) &&
      chunk[payloadStart - 1] === SPACE &&
      chunk[payloadStart] !== DONE[0] &&
      chunk[end - 1] !== CARRIAGE_RETURN &&
      end - start <= this.#eventBytesMax &&
      this.#partialBytes === 0 &&
      this.#dataLines.length === 0
    )
  }

  /** Returns the last event of a stream that ended without an empty line. */
  end(): Buffer[] {
    const payloads: Buffer[] = []
    if (this.#partialBytes > 0) this.#takeLine(this.#completeLine(Buffer.alloc(0)), payloads)
    this.#takeLine(Buffer.alloc(0), payloads)
    return payloads
  }

  #keepPartial(rest: Buffer): void {
    this.#partialLine.push(rest)
    this.#partialBytes += rest.length
    this.#refuseTooLarge()
  }

  #completeLine(rest: Buffer): Buffer {
    if (this.#partialBytes === 0) return withoutCarriageReturn(rest)
    this.#partialLine.push(rest)
    const line = Buffer.concat(this.#partialLine)
    this.#partialLine = []
    this.#partialBytes = 0
    return withoutCarriageReturn(line)
  }

  #takeLine(line: Buffer, payloads: Buffer[]): void {
    if (line.length === 0) {
      this.#closeEvent(payloads)
    } else if (isDataField(line, 0)) {
      const data = line.subarray(
        line[FIELD_START_BYTES - 1] === SPACE ? FIELD_START_BYTES : FIELD_START_BYTES - 1,
      )
      this.#dataLines.push(data)
      this.#dataBytes += data.length + LINE_BYTES
      this.#refuseTooLarge()
    }
  }

  #closeEvent(payloads: Buffer[]): void {
    const [first] = this.#dataLines
    if (first === undefined) return
    const payload = this.#dataLines.length === 1 ? first : joinLines(this.#dataLines)
    this.#dataLines = []
    this.#dataBytes = 0
    if (payload.equals(DONE)) this.isDone = true
    else if (payload.length > 0) payloads.push(payload)
  }

  #refuseTooLarge(): void {
    if (this.#partialBytes + this.#dataBytes > this.#eventBytesMax)
      throw new EventTooLarge(`an event is larger than ${this.#eventBytesMax} bytes`)
  }
}

/** Whether a line begins with `data:`. Comparing single bytes is cheaper than calling native code. */
function isDataField(bytes: Buffer, at: number): boolean {
  return (
    bytes[at] === 0x64 &&
    bytes[at + 1] === 0x61 &&
    bytes[at + 2] === 0x74 &&
    bytes[at + 3] === 0x61 &&
    bytes[at + 4] === COLON
  )
}

function withoutCarriageReturn(line: Buffer): Buffer {
  return line[line.length - 1] === CARRIAGE_RETURN ? line.subarray(0, -1) : line
}

function joinLines(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Buffer.from('\n'), line])))
}
