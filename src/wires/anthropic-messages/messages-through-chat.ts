import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/parse-json.ts'
import { readErrorPayload } from '../../providers/error-payload.ts'
import type { InferenceOperation, StreamAnswer } from '../../providers/provider.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import { MessageStream } from './message-stream.ts'
import type { MessagesRequest } from './messages-request.ts'
import { toChatRequest } from './to-chat-request.ts'
import { toMessage } from './to-message.ts'

/** Anthropic's wire in front of a provider that speaks the chat form. */
export function messagesThroughChat(
  provider: string,
  chat: InferenceOperation,
): InferenceOperation<MessagesRequest> {
  return async (call) => {
    const answer = await chat({ ...call, ...toChatRequest(call.body) })
    if (answer.kind === 'complete') {
      const completion = readPayload(provider, answer.payload)
      if (!Array.isArray(completion['choices']) || completion['choices'].length === 0)
        throw garbage(provider, 'it answered without a choice')
      return { kind: 'complete', payload: Buffer.from(JSON.stringify(toMessage(completion))) }
    }
    return {
      kind: 'stream',
      batches: translateStream(provider, answer),
      isTerminated: () => answer.isTerminated(),
    }
  }
}

async function* translateStream(
  provider: string,
  answer: StreamAnswer,
): AsyncGenerator<readonly Buffer[], void> {
  const stream = new MessageStream()
  for await (const batch of answer.batches) {
    const events = batch.flatMap((payload) => stream.add(readPayload(provider, payload)))
    if (events.length > 0) yield events
  }
  // A stream that was cut has no end: whoever reads it must not take it for whole.
  if (answer.isTerminated() || stream.hasFinished) yield stream.end()
}

function readPayload(provider: string, payload: Buffer): Record<string, unknown> {
  let members: unknown
  try {
    members = parseJson(payload.toString())
  } catch {
    members = null
  }
  if (!isRecord(members)) throw garbage(provider, 'it sent something that is not a JSON object')
  const error = readErrorPayload(provider, members)
  if (error !== null) throw error
  return members
}

function garbage(provider: string, what: string): UpstreamError {
  return new UpstreamError(`${provider}: ${what}`, { failure: 'garbage', provider })
}
