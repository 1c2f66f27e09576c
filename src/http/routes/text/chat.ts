import type { Chat } from '../../../modules/chat/chat.ts'
import { createInferenceRecord } from '../../../modules/inference/inference.ts'
import { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import { CompletionRequest } from '../../../wires/openai-completions/completion-request.ts'
import { inProject } from '../../access.ts'
import { defineHotRoute, type HotRoute } from '../../route.ts'
import type { SendInference } from '../../paid/send-inference.ts'
import { toInference } from '../../paid/to-inference.ts'
import { ChatCompletion, TextCompletion } from './chat-answer.ts'

interface ChatRouteOptions {
  readonly chat: Chat
  readonly sendInference: SendInference
}

const describeAnswer = (object: string) =>
  `The answer; with \`stream\` a sequence of \`${object}\` events closed by \`[DONE]\`.`

export const chatRoutes = ({ chat, sendInference }: ChatRouteOptions): HotRoute[] => [
  defineHotRoute({
    isHot: true,
    method: 'POST',
    path: '/v1/chat/completions',
    summary: 'Chat completion',
    tag: 'Chat',
    access: inProject('models.use'),
    body: ChatRequest,
    responses: { 200: { description: describeAnswer('chat.completion.chunk'), schema: ChatCompletion } },
    handle: (request) => {
      const record = createInferenceRecord('chat')
      return sendInference(request, record, () => chat.chat(toInference(request, record)))
    },
  }),
  defineHotRoute({
    isHot: true,
    method: 'POST',
    path: '/v1/completions',
    summary: 'Legacy text completion',
    tag: 'Chat',
    access: inProject('models.use'),
    body: CompletionRequest,
    responses: { 200: { description: describeAnswer('text_completion'), schema: TextCompletion } },
    handle: (request) => {
      const record = createInferenceRecord('completion')
      return sendInference(request, record, () => chat.completion(toInference(request, record)))
    },
  }),
]
