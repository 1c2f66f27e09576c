const SAMPLES = 32
const SAMPLE_LENGTH = 512
/** How many standard errors the average of the samples is lowered by. */
const ERRORS_ALLOWED = 3

/**
 * Returns a lower bound of the tokens of texts, in bounded time. Short texts are counted. Long texts are sampled at evenly spread
 * positions, and the average is lowered by a multiple of its standard error.
 */
export function leastTokens(texts: readonly string[], count: (text: string) => number): number {
  let length = 0
  for (const text of texts) length += text.length
  if (length <= SAMPLES * SAMPLE_LENGTH) return texts.reduce((tokens, text) => tokens + count(text), 0)
  const densities = takeSamples(texts, length).map((sample) => count(sample) / sample.length)
  const average = densities.reduce((sum, density) => sum + density, 0) / densities.length
  const squares = densities.reduce((sum, density) => sum + (density - average) ** 2, 0)
  const error = Math.sqrt(squares / (densities.length - 1) / densities.length)
  return Math.max(average - ERRORS_ALLOWED * error, 0) * length
}

/**
 * Adding it repeatedly spreads positions evenly within their strides, so that they do not all fall on a repeating pattern of the
 * text.
 */
const GOLDEN_RATIO = 0.618_033_988_749_895

function takeSamples(texts: readonly string[], length: number): string[] {
  const stride = length / SAMPLES
  const samples: string[] = []
  let index = 0
  let start = 0
  for (let number = 0; number < SAMPLES; number += 1) {
    const offset = ((number * GOLDEN_RATIO) % 1) * Math.max(stride - SAMPLE_LENGTH, 0)
    const position = Math.floor(number * stride + offset)
    let text = texts[index] ?? ''
    while (position >= start + text.length && index < texts.length) {
      start += text.length
      index += 1
      text = texts[index] ?? ''
    }
    if (text !== '') samples.push(cutAtSpaces(text, position - start))
  }
  return samples
}

// Cuts at spaces, because a cut word has more tokens than a whole one.
function cutAtSpaces(text: string, position: number): string {
  const from = Math.max(Math.min(position, text.length - SAMPLE_LENGTH), 0)
  const piece = text.slice(from, from + SAMPLE_LENGTH)
  const first = from === 0 ? 0 : piece.indexOf(' ')
  const last = from + SAMPLE_LENGTH >= text.length ? piece.length : piece.lastIndexOf(' ')
  return first >= 0 && last - first > SAMPLE_LENGTH / 2 ? piece.slice(first, last) : piece
}
