const RUN_LENGTH_MAX = 128

/**
 * The encoder takes quadratic time on a long run without a break: 64 KB of one letter cost four seconds. Cutting such
 * runs changes the count by less than a token a cut.
 */
export function* splitLongRuns(text: string): Generator<string> {
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
