import type { InferenceOperation } from '../provider.ts'
import { writtenAnswer } from '../answers/written-answer.ts'
import { readWholeChat, translateStream } from './read-chat-payload.ts'
import { responseIdOf } from '../../wires/openai-responses/response-id.ts'
import { ResponseStream } from '../../wires/openai-responses/response-stream.ts'
import type { ResponsesRequest } from '../../wires/openai-responses/responses-request.ts'
import { toChatRequest } from '../../wires/openai-responses/to-chat-request.ts'

/** Serves OpenAI's Responses wire with a provider that speaks the chat form. */
export function responsesThroughChat(
  provider: string,
  chat: InferenceOperation,
): InferenceOperation<ResponsesRequest> {
  return async (call) => {
    const { tools, ...translated } = toChatRequest(call.body)
    const answer = await chat({ ...call, ...translated })
    const stream = new ResponseStream(responseIdOf(call.requestId), call.body, tools)
    if (answer.kind === 'complete') {
      stream.add(readWholeChat(provider, answer))
      return writtenAnswer(stream.finish())
    }
    return {
      kind: 'stream',
      batches: translateStream(provider, answer, stream),
      isTerminated: () => answer.isTerminated(),
    }
  }
}
