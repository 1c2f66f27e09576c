import type { InferenceOperation } from '../../providers/provider.ts'
import { readWholeChat, translateStream } from '../read-chat-payload.ts'
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
      const message = toMessage(readWholeChat(provider, answer.payload))
      return { kind: 'complete', payload: Buffer.from(JSON.stringify(message)) }
    }
    return {
      kind: 'stream',
      batches: translateStream(provider, answer, new MessageStream()),
      isTerminated: () => answer.isTerminated(),
    }
  }
}
