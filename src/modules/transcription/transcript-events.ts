import { describeUsage } from './format-transcript.ts'
import type { FinishedTranscript } from './finished-transcript.ts'

const WORDS_PER_BATCH = 64

/** Yields a transcript as events of OpenAI's API: text deltas, then the complete text with its usage. */
export async function* transcriptEvents(transcript: FinishedTranscript): AsyncGenerator<readonly Buffer[]> {
  const pieces = splitWords(transcript.text)
  for (let start = 0; start < pieces.length; start += WORDS_PER_BATCH) {
    yield pieces
      .slice(start, start + WORDS_PER_BATCH)
      .map((delta) => toPayload({ type: 'transcript.text.delta', delta }))
  }
  const { text } = transcript
  yield [toPayload({ type: 'transcript.text.done', text, usage: describeUsage(transcript) })]
}

/** Splits after each word. Each piece includes the space before it, and the last also the space after it. */
function splitWords(text: string): string[] {
  const ends = [...text.trimEnd().matchAll(/\S+/g)].map(({ index, 0: word }) => index + word.length)
  return ends.map((end, index) =>
    text.slice(ends[index - 1] ?? 0, index === ends.length - 1 ? undefined : end),
  )
}

function toPayload(event: unknown): Buffer {
  return Buffer.from(JSON.stringify(event))
}
