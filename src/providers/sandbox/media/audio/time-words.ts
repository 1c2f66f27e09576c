import type { TranscriptSegment, TranscriptWord } from '../../../media/audio-operations.ts'

/** Splits the text into sentences and divides the time between them by their length. */
export function timeSegments(text: string, durationSeconds: number): TranscriptSegment[] {
  const sentences = (text.match(/[^.!?。！？]+[.!?。！？]*\s*|[.!?。！？]+\s*/g) ?? [])
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
  return shareTime(sentences, { startSeconds: 0, endSeconds: durationSeconds }).map(
    ({ startSeconds, endSeconds, piece }) => ({ startSeconds, endSeconds, text: piece }),
  )
}

export function timeWords(segments: readonly TranscriptSegment[]): TranscriptWord[] {
  return segments.flatMap((segment) =>
    shareTime(splitWords(segment.text), segment).map(({ startSeconds, endSeconds, piece }) => ({
      startSeconds,
      endSeconds,
      word: piece,
    })),
  )
}

const WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

function splitWords(text: string): string[] {
  const words = WITHOUT_SPACES.test(text)
    ? Array.from(new Intl.Segmenter('und', { granularity: 'word' }).segment(text), ({ segment }) => segment)
    : text.split(/\s+/)
  return words
    .map((word) => {
      const letters = [...word.matchAll(/[\p{L}\p{N}]+/gu)]
      const last = letters.at(-1)
      return last === undefined ? '' : word.slice(letters[0]?.index, last.index + last[0].length)
    })
    .filter((word) => word !== '')
}

interface Span {
  readonly startSeconds: number
  readonly endSeconds: number
}

function shareTime(
  pieces: readonly string[],
  { startSeconds, endSeconds }: Span,
): (Span & { piece: string })[] {
  const total = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const at = (share: number) => roundMs(startSeconds + (endSeconds - startSeconds) * share)
  let reached = 0
  return pieces.map((piece) => {
    const start = at(reached / total)
    reached += piece.length
    return { startSeconds: start, endSeconds: Math.max(start, at(reached / total)), piece }
  })
}

// Round down, so that no word ends after the audio.
function roundMs(seconds: number): number {
  return Math.floor(seconds * 1000) / 1000
}
