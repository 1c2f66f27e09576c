const RUN_LENGTH_MAX = 64

/**
 * The encoder takes quadratic time on a long run without a break: 64 KB of one letter cost four seconds, 16 KB of arrows and
 * exclamation marks five. Cutting such runs changes the count by less than a token a cut. A run ends only where the encoder surely
 * begins a new token, whatever characters stand around.
 */
export function* splitLongRuns(text: string): Generator<string> {
  let segmentStart = 0
  let runLength = 0
  let previous = SPACE
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    runLength = isSureBreak(previous, unit) ? 1 : runLength + 1
    previous = unit
    const isSecondOfPair = unit >= 0xdc00 && unit <= 0xdfff
    if (runLength <= RUN_LENGTH_MAX || isSecondOfPair) continue
    yield text.slice(segmentStart, index)
    segmentStart = index
    runLength = 1
  }
  if (segmentStart < text.length) yield text.slice(segmentStart)
}

const TAB = 9
const SPACE = 32
const APOSTROPHE = 39

/** Digits go by threes, a space or tab never follows anything in its token but white space, and a word ends where its letters end. */
function isSureBreak(previous: number, unit: number): boolean {
  if (isDigit(unit) || isDigit(previous)) return true
  if (unit === SPACE || unit === TAB) return !isWhiteSpace(previous)
  return unit < 0x80 && unit !== APOSTROPHE && isLetter(previous) && !isLetter(unit)
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57
}

function isLetter(unit: number): boolean {
  return (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122)
}

/** As regular expressions have it: `\s`. */
function isWhiteSpace(unit: number): boolean {
  if (unit < 0x80) return unit === SPACE || (unit >= TAB && unit <= 13)
  return (
    unit === 0xa0 ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000 ||
    unit === 0xfeff
  )
}
