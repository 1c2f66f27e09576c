import type { Chat, InferenceRequest, InferenceResult } from '../../modules/chat/chat.ts'
import { createInferenceRecord } from '../../modules/chat/chat.ts'
import { ChatRequest } from '../../providers/chat-wire.ts'
import { CompletionRequest } from '../../providers/completion-wire.ts'
import { defineRoute, type Route, type RouteRequest } from '../route.ts'
import { ChatCompletion, TextCompletion } from './chat-answer.ts'
import type { SendInference } from '../send-inference.ts'

interface ChatRouteOptions {
  readonly chat: Chat
  readonly sendInference: SendInference
}

const eventStream = (object: string) => ({
  description: `The answer; with \`stream\` a sequence of \`${object}\` events closed by \`[DONE]\`.`,
})

export function chatRoutes({ chat, sendInference }: ChatRouteOptions): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/chat/completions',
      summary: 'Chat completion',
      tag: 'Chat',
      scope: 'inference',
      body: ChatRequest,
      responses: { 200: { ...eventStream('chat.completion.chunk'), schema: ChatCompletion } },
      handle: (request) => infer('chat', request, (inference) => chat.chat(inference)),
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/completions',
      summary: 'Legacy text completion',
      tag: 'Chat',
      scope: 'inference',
      body: CompletionRequest,
      responses: { 200: { ...eventStream('text_completion'), schema: TextCompletion } },
      handle: (request) => infer('completion', request, (inference) => chat.completion(inference)),
    }),
  ]

  async function infer<Body extends ChatRequest | CompletionRequest>(
    operation: 'chat' | 'completion',
    request: RouteRequest<Body, unknown, unknown>,
    call: (inference: InferenceRequest<Body>) => Promise<InferenceResult>,
  ): Promise<void> {
    const record = createInferenceRecord(operation)
    await sendInference({
      request,
      record,
      isStream: request.body.stream === true,
      start: () => {
        const { caller, body, rawBody, requestId, signal } = request
        return call({ caller, body, rawBody, requestId, record, signal })
      },
    })
  }
}
