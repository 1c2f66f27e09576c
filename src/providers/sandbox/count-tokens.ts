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

let loading: Promise<Tokenizer> | null = null

/** Loaded at the first use: the vocabulary takes a fifth of a second and 77 MB that only sandbox requests need. */
export function loadTokenizer(): Promise<Tokenizer> {
  loading ??= importTokenizer()
  return loading
}

// The encoder's own default of 100,000 makes each miss walk over the graves of evicted entries.
const MERGE_CACHE_SIZE = 4096
// Text that looks like a control token is only text.
const NO_SPECIAL_TOKENS = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

async function importTokenizer(): Promise<Tokenizer> {
  const { encode, decode, countTokens, setMergeCacheSize } = await import('gpt-tokenizer/encoding/o200k_base')
  setMergeCacheSize(MERGE_CACHE_SIZE)
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

  return {
    countTokens(text) {
      let total = 0
      for (const segment of splitLongRuns(text.toWellFormed()))
        total += countTokens(segment, NO_SPECIAL_TOKENS)
      return total
    },
    splitTokens(text) {
      const wellFormed = text.toWellFormed()
      const boundaries = findBoundaries(graphemes, wellFormed)
      const pieces: TokenPiece[] = []
      let start = 0
      let end = 0
      let tokenCount = 0
      for (const segment of splitLongRuns(wellFormed)) {
        for (const token of encode(segment, NO_SPECIAL_TOKENS)) {
          // An unfinished character decodes to nothing, and whole with the token that ends it.
          end += decode([token]).length
          tokenCount += 1
          if (end === start || !(boundaries?.has(end) ?? true)) continue
          pieces.push({ text: wellFormed.slice(start, end), tokenCount })
          start = end
          tokenCount = 0
        }
      }
      return pieces
    },
  }
}

// A carriage return and its line feed are one character, and the only such pair in ASCII.
const HAS_JOINED_CHARACTERS = /[\r\u0080-\uffff]/

/** Null where every place is one. */
function findBoundaries(graphemes: Intl.Segmenter, text: string): Set<number> | null {
  if (!HAS_JOINED_CHARACTERS.test(text)) return null
  const boundaries = new Set<number>([text.length])
  for (const { index } of graphemes.segment(text)) boundaries.add(index)
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
