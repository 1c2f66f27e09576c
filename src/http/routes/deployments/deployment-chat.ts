import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Chat } from '../../../modules/chat/chat.ts'
import { modelIdOf, type Deployments } from '../../../modules/deployments/deployments.ts'
import { createInferenceRecord } from '../../../modules/inference/inference.ts'
import { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import { nullable } from '../../../wires/nullable.ts'
import type { SendInference } from '../../paid/send-inference.ts'
import { toInference } from '../../paid/to-inference.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { ChatCompletion } from '../text/chat-answer.ts'

const Params = Type.Object({ id: Type.String({ description: 'The id of a deployment.' }) })

const DeploymentChatRequest = Type.Object(
  {
    ...ChatRequest.properties,
    model: nullable(Type.String({ description: 'Ignored: the path names the deployment.' })),
  },
  {
    title: 'DeploymentChatRequest',
    examples: [{ messages: [{ role: 'user', content: 'Hello!' }] }],
  },
)

interface DeploymentChatOptions {
  readonly deployments: Pick<Deployments, 'read'>
  readonly chat: Chat
  readonly sendInference: SendInference
}

/** Routes for chat with a deployment by its path. They do the same as the chat route with the deployment's model id. */
export const deploymentChatRoutes = ({ deployments, chat, sendInference }: DeploymentChatOptions): Route[] =>
  [
    { path: '/v1/deployments/:id/chat' },
    { path: '/v1/deployments/:id/chat/completions', aliasOf: '/v1/deployments/:id/chat' },
  ].map((described) =>
    defineRoute({
      ...described,
      method: 'POST',
      summary: 'Chat with a deployment',
      tag: 'Deployments',
      access: inProject('models.use'),
      takesTags: 'metadata',
      params: Params,
      body: DeploymentChatRequest,
      otherErrors: [402, 409, 429, 502, 503, 504],
      responses: {
        200: {
          description:
            'The answer; with `stream` a sequence of `chat.completion.chunk` events closed by `[DONE]`.',
          schema: ChatCompletion,
          otherTypes: { 'text/event-stream': Type.String() },
        },
      },
      handle: async ({ caller, params, body: sent, exchange, reply }) => {
        const { id } = await deployments.read(caller, params.id)
        const body = { ...sent, model: modelIdOf(id) }
        const record = createInferenceRecord('chat')
        const request = { caller, body, text: JSON.stringify(body), exchange, headers: headersOf(reply) }
        const send = sendInference(request, record, () => chat.chat(toInference(request, record)))
        await send.catch((error: unknown) => {
          // A caller that was refused in the middle has its answer already.
          if (!reply.raw.headersSent) throw error
        })
        // The complete answer was written without the framework, so the framework must not send one.
        reply.hijack()
      },
    }),
  )

/** Returns the headers that the framework would send, as alternating names and values. */
function headersOf(reply: FastifyReply): string[] {
  return Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().flatMap((one) => [name, String(one)]),
  )
}
