import { splitLongRuns } from '../../../kernel/tokens/split-long-runs.ts'
import { loadTokenEncoding, type TokenEncoding } from '../../../kernel/tokens/token-encoding.ts'
import type { TakeTurn } from '../take-turns.ts'

/** Usually one token. More if a token boundary would split a character. */
export interface TokenPiece {
  readonly text: string
  readonly tokenCount: number
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const PART_LENGTH = 2048

/** Splits in parts and yields to other requests in between. */
export async function splitTokens(text: string, takeTurn: TakeTurn): Promise<TokenPiece[]> {
  const pieces: TokenPiece[] = []
  for (const part of splitParts(text.toWellFormed())) {
    for (const piece of splitPart(part)) pieces.push(piece)
    await takeTurn(part.length)
  }
  return pieces
}

/** Cuts at a space, where the encoder would start a new token anyway, and never within a surrogate pair. */
export function* splitParts(text: string, partLength = PART_LENGTH): Generator<string> {
  let start = 0
  while (text.length - start > partLength) {
    const space = text.slice(start, start + partLength + 1).lastIndexOf(' ')
    const isInPair = (text.charCodeAt(start + partLength) & 0xfc00) === 0xdc00
    const end = space > 0 ? start + space : start + partLength + (isInPair ? 1 : 0)
    yield text.slice(start, end)
    start = end
  }
  if (start < text.length) yield text.slice(start)
}

function splitPart(text: string): TokenPiece[] {
  const encoding = loadTokenEncoding()
  const boundaries = findBoundaries(text)
  const pieces: TokenPiece[] = []
  let start = 0
  let endBytes = 0
  let tokenCount = 0
  for (const run of splitLongRuns(text)) {
    for (const token of encoding.encode(run)) {
      endBytes += countBytes(encoding.vocabulary[token])
      tokenCount += 1
      const end = boundaries === null ? endBytes : boundaries.get(endBytes)
      if (end === undefined) continue
      pieces.push({ text: text.slice(start, end), tokenCount })
      start = end
      tokenCount = 0
    }
  }
  return pieces
}

function countBytes(entry: TokenEncoding['vocabulary'][number]): number {
  return typeof entry === 'string' ? Buffer.byteLength(entry) : (entry?.length ?? 0)
}

// CR LF is one grapheme, and the only one in ASCII that has two characters.
const HAS_JOINED_CHARACTERS = /[\r\u0080-\uffff]/

/** Maps the end of each character in UTF-8 bytes to its end in the text. Null if every byte is a character. */
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
