import type { InferenceOperation } from '../provider.ts'
import { writtenAnswer } from '../answers/written-answer.ts'
import { readWholeChat, translateStream } from './read-chat-payload.ts'
import { MessageStream } from '../../wires/anthropic-messages/message-stream.ts'
import type { MessagesRequest } from '../../wires/anthropic-messages/messages-request.ts'
import { toChatRequest } from '../../wires/anthropic-messages/to-chat-request.ts'
import { toMessage } from '../../wires/anthropic-messages/to-message.ts'

/** Serves Anthropic's wire with a provider that speaks the chat form. */
export function messagesThroughChat(
  provider: string,
  chat: InferenceOperation,
): InferenceOperation<MessagesRequest> {
  return async (call) => {
    const answer = await chat({ ...call, ...toChatRequest(call.body) })
    if (answer.kind === 'complete') return writtenAnswer(toMessage(readWholeChat(provider, answer)))
    return {
      kind: 'stream',
      batches: translateStream(provider, answer, new MessageStream()),
      isTerminated: () => answer.isTerminated(),
    }
  }
}
