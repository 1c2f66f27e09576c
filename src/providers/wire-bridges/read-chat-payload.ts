import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/parse-json.ts'
import { readErrorPayload } from '../error-payload.ts'
import type { StreamAnswer } from '../provider.ts'
import { UpstreamError } from '../upstream-error.ts'

/** An answer of the chat form or a chunk of one. Throws an `UpstreamError` for an error or something else. */
function readChatPayload(provider: string, payload: Buffer): Record<string, unknown> {
  let members: unknown
  try {
    members = parseJson(payload.toString())
  } catch {
    members = null
  }
  if (!isRecord(members)) throw invalidAnswer(provider, 'it sent something that is not a JSON object')
  const error = readErrorPayload(provider, members)
  if (error !== null) throw error
  if (Array.isArray(members['choices']) && !members['choices'].every(isRecord))
    throw invalidAnswer(provider, 'it sent choices of another shape')
  return members
}

/** The same for a whole answer, which has a choice. */
export function readWholeChat(provider: string, payload: Buffer): Record<string, unknown> {
  const members = readChatPayload(provider, payload)
  if (Array.isArray(members['choices']) && members['choices'].length > 0) return members
  throw invalidAnswer(provider, 'it answered without a choice')
}

/** Makes the events of another wire of chunks of the chat form. */
interface ChunkTranslator {
  add(chunk: Readonly<Record<string, unknown>>): Buffer[]
  end(): Buffer[]
  readonly hasFinished: boolean
}

export async function* translateStream(
  provider: string,
  answer: StreamAnswer,
  translator: ChunkTranslator,
): AsyncGenerator<readonly Buffer[], void> {
  for await (const batch of answer.batches) {
    const events = batch.flatMap((payload) => translator.add(readChatPayload(provider, payload)))
    if (events.length > 0) yield events
  }
  // A stream that was cut has no end: whoever reads it must not take it for whole.
  if (answer.isTerminated() || translator.hasFinished) yield translator.end()
}

function invalidAnswer(provider: string, what: string): UpstreamError {
  return new UpstreamError(`${provider}: ${what}`, { failure: 'invalid_answer', provider })
}
