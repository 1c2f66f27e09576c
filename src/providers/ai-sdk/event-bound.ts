/** Checks a stream of server-sent events without buffering it. */
export interface EventBound {
  /** Whether an event, or the comments between two events, were larger than the limit. */
  readonly isExceeded: boolean
  /** Reads the next chunk. Returns whether it has a part of an event, and not only comments and empty lines. */
  take(chunk: Uint8Array): boolean
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const COLON = 58

export function createEventBound(eventBytesMax: number): EventBound {
  let isExceeded = false
  let eventBytes = 0
  let quietBytes = 0
  // An event ends with an empty line, which may be split over two chunks.
  let isLineEmpty = false
  let isInComment = false
  let isLineStart = true

  const takeLines = (chunk: Uint8Array): boolean => {
    let hasField = false
    let from = 0
    while (from < chunk.length) {
      const lineFeed = chunk.indexOf(LINE_FEED, from)
      const lineEnd = lineFeed === -1 ? chunk.length : lineFeed
      eventBytes += lineEnd - from + (lineFeed === -1 ? 0 : 1)
      if (eventBytes > eventBytesMax) isExceeded = true
      const isBlank = lineEnd === from || (lineEnd === from + 1 && chunk[from] === CARRIAGE_RETURN)
      if (isLineStart) isInComment = chunk[from] === COLON
      if (!isBlank && !isInComment) hasField = true
      isLineStart = lineFeed !== -1
      if (lineFeed === -1) {
        isLineEmpty &&= isBlank
        return hasField
      }
      if (isLineEmpty && isBlank) eventBytes = 0
      isLineEmpty = true
      from = lineFeed + 1
    }
    return hasField
  }

  return {
    get isExceeded() {
      return isExceeded
    },
    take(chunk) {
      const hasField = takeLines(chunk)
      quietBytes = hasField ? 0 : quietBytes + chunk.length
      if (quietBytes > eventBytesMax) isExceeded = true
      return hasField
    },
  }
}
