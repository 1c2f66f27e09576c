import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/json/parse-json.ts'
import { readErrorPayload } from '../failures/error-payload.ts'
import type { CompleteAnswer, StreamAnswer } from '../provider.ts'
import { invalidAnswer } from '../failures/upstream-error.ts'

/** Parses an answer of the chat form or a chunk of one. Throws an `UpstreamError` if it is an error or not an object. */
function readChatPayload(provider: string, payload: Buffer): Record<string, unknown> {
  let members: unknown
  try {
    members = parseJson(payload.toString())
  } catch {
    members = null
  }
  return requireChat(provider, members)
}

function requireChat(provider: string, members: unknown): Record<string, unknown> {
  if (!isRecord(members)) throw invalidAnswer(provider, 'it sent something that is not a JSON object')
  const error = readErrorPayload(provider, members)
  if (error !== null) throw error
  if (Array.isArray(members['choices']) && !members['choices'].every(isRecord))
    throw invalidAnswer(provider, 'it sent choices of another shape')
  return members
}

/** Reads a complete answer. Throws if it has no choice. */
export function readWholeChat(provider: string, answer: CompleteAnswer): Record<string, unknown> {
  const members =
    answer.value === undefined
      ? readChatPayload(provider, answer.payload)
      : requireChat(provider, answer.value)
  if (Array.isArray(members['choices']) && members['choices'].length > 0) return members
  throw invalidAnswer(provider, 'it answered without a choice')
}

/** Translates chunks of the chat form into events of another wire. */
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
    const events = batch.flatMap((payload) => {
      const chunk = readChatPayload(provider, payload)
      return isChunk(chunk) ? translator.add(chunk) : []
    })
    if (events.length > 0) yield events
  }
  // A stream that was cut gets no end event, so that the client does not take it for complete.
  if (answer.isTerminated() || translator.hasFinished) yield translator.end()
}

/** Whether this is a chunk, and not an event of the vendor's own that the wire does not have. */
function isChunk(members: Record<string, unknown>): boolean {
  return members['choices'] !== undefined || members['usage'] !== undefined
}
