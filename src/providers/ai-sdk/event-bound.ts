/** Checks the size of each server-sent event without buffering it. */
export interface EventBound {
  /** Returns whether an event in this chunk exceeds the limit. */
  isExceededBy(chunk: Uint8Array): boolean
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

export function createEventBound(eventBytesMax: number): EventBound {
  let eventBytes = 0
  // An event ends with an empty line, which may be split over two chunks.
  let isLineEmpty = false
  return {
    isExceededBy(chunk) {
      let from = 0
      while (from < chunk.length) {
        const lineFeed = chunk.indexOf(LINE_FEED, from)
        const lineEnd = lineFeed === -1 ? chunk.length : lineFeed
        eventBytes += lineEnd - from + (lineFeed === -1 ? 0 : 1)
        if (eventBytes > eventBytesMax) return true
        const isBlank = lineEnd === from || (lineEnd === from + 1 && chunk[from] === CARRIAGE_RETURN)
        if (lineFeed === -1) {
          isLineEmpty &&= isBlank
          return false
        }
        if (isLineEmpty && isBlank) eventBytes = 0
        isLineEmpty = true
        from = lineFeed + 1
      }
      return false
    },
  }
}
