/** Checks a stream of server-sent events without buffering it. */
export interface EventBound {
  /** Whether an event, or what was sent between two events, was larger than the limit. */
  readonly isExceeded: boolean
  /** Reads the next chunk. Returns whether it has data of an event, and not only comments, other fields and empty lines. */
  take(chunk: Uint8Array): boolean
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
/** No other field of the format starts with this letter. */
const DATA_INITIAL = 0x64
/** Overhead counted for each line and chunk without data, so that many small ones reach the limit too. */
const LINE_BYTES = 64

export function createEventBound(eventBytesMax: number): EventBound {
  let isExceeded = false
  let eventBytes = 0
  let quietBytes = 0
  // An event ends with an empty line, which may be split over two chunks.
  let isLineEmpty = false
  let isLineStart = true
  let isData = false

  const takeLines = (chunk: Uint8Array): boolean => {
    let hasData = false
    let from = 0
    while (from < chunk.length) {
      const lineFeed = chunk.indexOf(LINE_FEED, from)
      const lineEnd = lineFeed === -1 ? chunk.length : lineFeed
      eventBytes += lineEnd - from + (lineFeed === -1 ? 0 : 1)
      if (eventBytes > eventBytesMax) isExceeded = true
      const isBlank = lineEnd === from || (lineEnd === from + 1 && chunk[from] === CARRIAGE_RETURN)
      if (isLineStart) isData = chunk[from] === DATA_INITIAL
      hasData ||= isData && !isBlank
      isLineStart = lineFeed !== -1
      if (lineFeed === -1) {
        isLineEmpty &&= isBlank
        return hasData
      }
      if (isLineEmpty && isBlank) eventBytes = 0
      isLineEmpty = true
      quietBytes += LINE_BYTES
      from = lineFeed + 1
    }
    return hasData
  }

  return {
    get isExceeded() {
      return isExceeded
    },
    take(chunk) {
      const hasData = takeLines(chunk)
      quietBytes = hasData ? 0 : quietBytes + chunk.length + LINE_BYTES
      if (quietBytes > eventBytesMax) isExceeded = true
      return hasData
    },
  }
}
