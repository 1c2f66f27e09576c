import type { Chat } from '../../modules/chat/chat.ts'
import { createInferenceRecord } from '../../modules/inference/inference.ts'
import { ResponseObject } from '../../wires/openai-responses/response-answer.ts'
import { ResponsesRequest } from '../../wires/openai-responses/responses-request.ts'
import { responsesWire } from '../../wires/openai-responses/responses-wire.ts'
import { defineHotRoute, type HotRoute } from '../route.ts'
import type { SendInference } from '../send-inference.ts'
import { toInference } from '../to-inference.ts'

interface ResponseRouteOptions {
  readonly chat: Chat
  readonly sendInference: SendInference
}

export const responseRoutes = ({ chat, sendInference }: ResponseRouteOptions): HotRoute[] => [
  defineHotRoute({
    isHot: true,
    method: 'POST',
    path: '/v1/responses',
    wire: responsesWire,
    summary: 'Response',
    tag: 'Responses',
    scope: 'inference',
    body: ResponsesRequest,
    responses: {
      200: {
        description:
          'The response; with `stream` the events of one, from `response.created` to `response.completed`.',
        schema: ResponseObject,
      },
    },
    handle: (request) => {
      const record = createInferenceRecord('responses')
      return sendInference(request, record, () => chat.responses(toInference(request, record)))
    },
  }),
]
