import { createRequire } from 'node:module'

/** Token counts and token-sized pieces by OpenAI's o200k encoding, which stands in for every model's own. */
export interface Tokenizer {
  countTokens(text: string): number
  splitTokens(text: string): TokenPiece[]
}

/** Usually one token; more where a token alone would cut a character in two. */
export interface TokenPiece {
  readonly text: string
  readonly tokenCount: number
}

let loaded: Tokenizer | null = null

/** Loaded at the first use: the vocabulary takes a fifth of a second and 77 MB that a gateway may never need. */
export function loadTokenizer(): Tokenizer {
  loaded ??= createTokenizer()
  return loaded
}

interface Encoding {
  encode(text: string, options: typeof NO_SPECIAL_TOKENS): number[]
  countTokens(text: string, options: typeof NO_SPECIAL_TOKENS): number
  setMergeCacheSize(size: number): void
}

/** Each token's text, or its bytes where they are no whole characters. */
type Vocabulary = readonly (string | readonly number[] | undefined)[]

// Required rather than imported, because the kernel does so too and the package has a copy for each way.
const require = createRequire(import.meta.url)
// The encoder's own default of 100,000 makes each miss walk over the graves of evicted entries.
const MERGE_CACHE_SIZE = 4096
// Text that looks like a control token is only text.
const NO_SPECIAL_TOKENS = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

function createTokenizer(): Tokenizer {
  const encoding = require('gpt-tokenizer/encoding/o200k_base') as Encoding
  const { default: vocabulary } = require('gpt-tokenizer/bpeRanks/o200k_base') as { default: Vocabulary }
  encoding.setMergeCacheSize(MERGE_CACHE_SIZE)
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

  return {
    countTokens(text) {
      let total = 0
      for (const run of splitLongRuns(text.toWellFormed()))
        total += encoding.countTokens(run, NO_SPECIAL_TOKENS)
      return total
    },
    splitTokens(text) {
      const wellFormed = text.toWellFormed()
      const boundaries = findBoundaries(graphemes, wellFormed)
      const pieces: TokenPiece[] = []
      let start = 0
      let endBytes = 0
      let tokenCount = 0
      for (const run of splitLongRuns(wellFormed)) {
        for (const token of encoding.encode(run, NO_SPECIAL_TOKENS)) {
          endBytes += countBytes(vocabulary[token])
          tokenCount += 1
          const end = boundaries === null ? endBytes : boundaries.get(endBytes)
          if (end === undefined) continue
          pieces.push({ text: wellFormed.slice(start, end), tokenCount })
          start = end
          tokenCount = 0
        }
      }
      return pieces
    },
  }
}

// Lengths rather than the package's decoder, which carries half a character over into the next call.
function countBytes(entry: Vocabulary[number]): number {
  return typeof entry === 'string' ? Buffer.byteLength(entry) : (entry?.length ?? 0)
}

// A carriage return and its line feed are one character, and the only such pair in ASCII.
const HAS_JOINED_CHARACTERS = /[\r\u0080-\uffff]/

/** Where a character ends, in the text by bytes of its UTF-8. Null where every byte is a character. */
function findBoundaries(graphemes: Intl.Segmenter, text: string): Map<number, number> | null {
  if (!HAS_JOINED_CHARACTERS.test(text)) return null
  const boundaries = new Map<number, number>()
  let endBytes = 0
  for (const { segment, index } of graphemes.segment(text)) {
    endBytes += Buffer.byteLength(segment)
    boundaries.set(endBytes, index + segment.length)
  }
  return boundaries
}

const RUN_LENGTH_MAX = 128

/**
 * The encoder takes quadratic time on a long run without a break: 64 KB of one letter cost four seconds. Cutting such
 * runs changes the count by less than a token a cut.
 */
function* splitLongRuns(text: string): Generator<string> {
  let segmentStart = 0
  let runLength = 0
  let runKind = -1
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    const kind = kindOf(unit)
    runLength = kind === runKind ? runLength + 1 : 1
    runKind = kind
    const isSecondOfPair = unit >= 0xdc00 && unit <= 0xdfff
    if (runLength <= RUN_LENGTH_MAX || isSecondOfPair) continue
    yield text.slice(segmentStart, index)
    segmentStart = index
    runLength = 1
  }
  if (segmentStart < text.length) yield text.slice(segmentStart)
}

// The encoder never joins a space, a letter and anything else into one run of any length.
function kindOf(unit: number): 0 | 1 | 2 {
  if (unit <= 32) return 0
  if (unit >= 0x80) return isWideMark(unit) ? 2 : 1
  return (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122) ? 1 : 2
}

function isWideMark(unit: number): boolean {
  return (
    (unit >= 0x2010 && unit <= 0x206f) ||
    (unit >= 0x3000 && unit <= 0x303f) ||
    (unit >= 0xff00 && unit <= 0xff0f)
  )
}
