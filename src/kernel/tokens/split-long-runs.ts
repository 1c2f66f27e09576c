const RUN_LENGTH_MAX = 64

/**
 * Splits long runs of text without a token boundary, on which the encoder takes quadratic time: four seconds for 64 KB of one
 * letter, five for 16 KB of arrows and exclamation marks. Each cut changes the count by less than one token. A run ends only
 * where the encoder certainly starts a new token, whatever the neighbouring characters are.
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

/**
 * Returns whether a new token certainly starts at `unit`. Digits form groups of at most three, a space or tab follows only white
 * space within a token, and a word ends after its last letter.
 */
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

/** Same as `\s` in regular expressions. */
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
