/** A line of a file, without its end. */
export interface RawLine {
  /** From 1. */
  readonly number: number
  /** Where it begins in the file. */
  readonly firstByte: number
  readonly bytes: number
  /** Null for a line that is longer than the limit. */
  readonly content: Buffer | null
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** Splits a file into its lines. In memory are one piece of the file and one line up to the limit. Empty lines are left out. */
export async function* splitLines(
  pieces: AsyncIterable<Buffer>,
  lineBytesMax: number,
): AsyncGenerator<RawLine, void> {
  const line = new OpenLine(lineBytesMax)
  for await (const piece of pieces) {
    let start = 0
    for (;;) {
      const end = piece.indexOf(LINE_FEED, start)
      line.add(piece.subarray(start, end === -1 ? piece.length : end))
      if (end === -1) break
      const ended = line.end(1)
      if (ended !== null) yield ended
      start = end + 1
    }
  }
  const last = line.end(0)
  if (last !== null) yield last
}

/** The line that is being read. */
class OpenLine {
  readonly #bytesMax: number
  #number = 1
  #firstByte = 0
  #bytes = 0
  #parts: Buffer[] = []

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(part: Buffer): void {
    if (part.length === 0) return
    this.#bytes += part.length
    // The rest of a line that is too long is only counted.
    if (this.#bytes > this.#bytesMax) this.#parts = []
    else this.#parts.push(part)
  }

  /** Returns the line, or null for an empty one. */
  end(separatorBytes: number): RawLine | null {
    const number = this.#number
    const content = this.#bytes > this.#bytesMax ? null : joinParts(this.#parts)
    const before = content === null ? 0 : markBytes(content, number)
    const after = content?.at(-1) === CARRIAGE_RETURN ? 1 : 0
    const ended = {
      number,
      firstByte: this.#firstByte + before,
      bytes: this.#bytes - before - after,
      content: content?.subarray(before, content.length - after) ?? null,
    }
    this.#number += 1
    this.#firstByte += this.#bytes + separatorBytes
    this.#bytes = 0
    this.#parts = []
    return ended.content !== null && isBlank(ended.content) ? null : ended
  }
}

function joinParts(parts: readonly Buffer[]): Buffer {
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
}

/** Some editors write a mark before the first line. */
function markBytes(content: Buffer, number: number): number {
  return number === 1 && content.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? BYTE_ORDER_MARK.length
    : 0
}

function isBlank(content: Buffer): boolean {
  return content.every((byte) => byte === 0x20 || byte === 0x09)
}
