import { splitLongRuns } from '../../kernel/split-long-runs.ts'
import { loadTokenEncoding, type TokenEncoding } from '../../kernel/token-encoding.ts'

/** Usually one token; more where a token alone would cut a character in two. */
export interface TokenPiece {
  readonly text: string
  readonly tokenCount: number
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

export function splitTokens(text: string): TokenPiece[] {
  const encoding = loadTokenEncoding()
  const wellFormed = text.toWellFormed()
  const boundaries = findBoundaries(wellFormed)
  const pieces: TokenPiece[] = []
  let start = 0
  let endBytes = 0
  let tokenCount = 0
  for (const run of splitLongRuns(wellFormed)) {
    for (const token of encoding.encode(run)) {
      endBytes += countBytes(encoding.vocabulary[token])
      tokenCount += 1
      const end = boundaries === null ? endBytes : boundaries.get(endBytes)
      if (end === undefined) continue
      pieces.push({ text: wellFormed.slice(start, end), tokenCount })
      start = end
      tokenCount = 0
    }
  }
  return pieces
}

function countBytes(entry: TokenEncoding['vocabulary'][number]): number {
  return typeof entry === 'string' ? Buffer.byteLength(entry) : (entry?.length ?? 0)
}

// A carriage return and its line feed are one character, and the only such pair in ASCII.
const HAS_JOINED_CHARACTERS = /[\r\u0080-\uffff]/

/** Where a character ends, in the text by bytes of its UTF-8. Null where every byte is a character. */
function findBoundaries(text: string): Map<number, number> | null {
  if (!HAS_JOINED_CHARACTERS.test(text)) return null
  const boundaries = new Map<number, number>()
  let endBytes = 0
  for (const { segment, index } of graphemes.segment(text)) {
    endBytes += Buffer.byteLength(segment)
    boundaries.set(endBytes, index + segment.length)
  }
  return boundaries
}
