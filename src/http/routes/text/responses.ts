import { Type } from 'typebox'
import { createInferenceRecord } from '../../../modules/inference/inference.ts'
import type { Limits } from '../../../modules/limits/limits.ts'
import type { Responses } from '../../../modules/responses/responses.ts'
import { nullable } from '../../../wires/nullable.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { ResponseObject } from '../../../wires/openai-responses/response-answer.ts'
import { ResponsesRequest } from '../../../wires/openai-responses/responses-request.ts'
import { responsesWire } from '../../../wires/openai-responses/responses-wire.ts'
import { inProject } from '../../access.ts'
import { defineHotRoute, defineRoute, type HotRoute, type Route } from '../../route.ts'
import { runFree } from '../../paid/run-paid.ts'
import type { SendInference } from '../../paid/send-inference.ts'
import { refuseUnhonoured } from '../../bodies/refuse-unhonoured.ts'
import { toInference } from '../../paid/to-inference.ts'

interface ResponseRouteOptions {
  readonly responses: Responses
  readonly limits: Limits
  readonly sendInference: SendInference
}

const TokenCountRequest = Type.Object(
  {
    ...ResponsesRequest.properties,
    model: nullable(ResponsesRequest.properties.model),
    input: nullable(ResponsesRequest.properties.input),
  },
  { examples: [{ model: 'gpt-5.4-mini', input: 'Why is the sky blue?' }] },
)

const TokenCount = Type.Object({
  object: objectName('response.input_tokens'),
  input_tokens: Type.Integer({ description: 'Tokens of the prompt.' }),
})

export const responseRoutes = (options: ResponseRouteOptions): (Route | HotRoute)[] => [
  createResponse(options),
  compactResponse(options),
  countTokens(options),
]

function createResponse({ responses, sendInference }: ResponseRouteOptions): HotRoute {
  return defineHotRoute({
    isHot: true,
    method: 'POST',
    path: '/v1/responses',
    wire: responsesWire,
    summary: 'Response',
    tag: 'Responses',
    access: inProject('models.use'),
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
      request.exchange.goesOnAlone = request.body.background === true
      return sendInference(request, record, () => responses.create(toInference(request, record)))
    },
  })
}

const CompactRequest = Type.Object(
  {
    model: ResponsesRequest.properties.model,
    input: nullable(ResponsesRequest.properties.input),
    instructions: ResponsesRequest.properties.instructions,
    previous_response_id: ResponsesRequest.properties.previous_response_id,
    conversation: ResponsesRequest.properties.conversation,
    prompt_cache_key: ResponsesRequest.properties.prompt_cache_key,
  },
  {
    title: 'CompactRequest',
    examples: [
      {
        model: 'gpt-5.4-mini',
        input: [
          { role: 'user', content: 'My name is Ada.' },
          { role: 'assistant', content: 'Hello, Ada!' },
        ],
      },
    ],
  },
)

const Compacted = Type.Object({
  id: Id,
  object: objectName('response.compaction'),
  created_at: Type.Integer({ description: 'In seconds.' }),
  output: Type.Array(Type.Object({ id: Id, type: Type.String({ description: 'The kind of this part.' }) }), {
    description:
      'What the user said, then one item of the type `compaction`. Send it as input instead of all before.',
  }),
  usage: ResponseObject.properties.usage,
})

function compactResponse({ responses, sendInference }: ResponseRouteOptions): HotRoute {
  return defineHotRoute({
    isHot: true,
    method: 'POST',
    path: '/v1/responses/compact',
    wire: responsesWire,
    summary: 'Compact a conversation',
    tag: 'Responses',
    access: inProject('models.use'),
    body: CompactRequest,
    responses: { 200: { description: 'The shorter conversation.', schema: Compacted } },
    handle: (request) => {
      const record = createInferenceRecord('responses')
      // The summary is a request of the gateway's own, which has no member of this one.
      refuseUnhonoured(request.body)
      const body = { ...request.body, input: request.body.input ?? [] }
      return sendInference({ ...request, body }, record, () =>
        responses.compact(toInference({ ...request, body }, record)),
      )
    },
  })
}

function countTokens({ responses, limits }: ResponseRouteOptions): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/responses/input_tokens',
    wire: responsesWire,
    summary: 'Count the tokens of a response',
    tag: 'Responses',
    access: inProject('models.use'),
    body: TokenCountRequest,
    responses: { 200: { description: 'How long the prompt is. Costs nothing.', schema: TokenCount } },
    handle: (request) =>
      runFree(limits, request, async () => {
        const { body, caller, exchange } = request
        const counted = { ...body, input: body.input ?? [] }
        const tokens = await responses.countTokens(caller, counted, (bytes) => exchange.countRead(bytes))
        return { object: 'response.input_tokens', input_tokens: tokens }
      }),
  })
}
