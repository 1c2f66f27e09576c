import { describeUsage } from './format-transcript.ts'
import type { FinishedTranscript } from './finished-transcript.ts'

/** Words of a text, each with the space before it. */
const WORDS_PER_BATCH = 64

/** A transcript as the events of OpenAI's wire: its text piece by piece, then all of it with its usage. */
export async function* transcriptEvents(transcript: FinishedTranscript): AsyncGenerator<readonly Buffer[]> {
  const pieces = transcript.text.match(/\s*\S+\s*$|\s*\S+/g) ?? []
  for (let start = 0; start < pieces.length; start += WORDS_PER_BATCH) {
    yield pieces
      .slice(start, start + WORDS_PER_BATCH)
      .map((delta) => toPayload({ type: 'transcript.text.delta', delta }))
  }
  const { text } = transcript
  yield [toPayload({ type: 'transcript.text.done', text, usage: describeUsage(transcript) })]
}

function toPayload(event: unknown): Buffer {
  return Buffer.from(JSON.stringify(event))
}
