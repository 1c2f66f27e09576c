import { Type } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { Chat } from '../../../modules/chat/chat.ts'
import { createInferenceRecord } from '../../../modules/inference/inference.ts'
import type { Limits } from '../../../modules/limits/limits.ts'
import { Message } from '../../../wires/anthropic-messages/message-answer.ts'
import { CountTokensRequest, MessagesRequest } from '../../../wires/anthropic-messages/messages-request.ts'
import { messagesWire } from '../../../wires/anthropic-messages/messages-wire.ts'
import type { Exchange } from '../../exchange.ts'
import { inProject } from '../../access.ts'
import { defineHotRoute, defineRoute, type HotRoute, type Route } from '../../route.ts'
import { runFree } from '../../paid/run-paid.ts'
import type { SendInference } from '../../paid/send-inference.ts'
import { toInference } from '../../paid/to-inference.ts'

interface MessageRouteOptions {
  readonly chat: Chat
  readonly limits: Limits
  readonly sendInference: SendInference
}

const TokenCount = Type.Object({ input_tokens: Type.Integer({ description: 'Tokens of the prompt.' }) })

export const messageRoutes = (options: MessageRouteOptions): (Route | HotRoute)[] => {
  const send = sendMessage('/v1/messages', options)
  const count = countTokens('/v1/messages/count_tokens', options)
  return [send, count, toAlias(send), toAlias(count)]
}

/** Returns the route under the prefix `/anthropic`, which some clients use. */
function toAlias<Described extends Route | HotRoute>(route: Described): Described {
  return { ...route, path: `/anthropic${route.path}`, aliasOf: route.path }
}

function sendMessage(path: string, { chat, sendInference }: MessageRouteOptions): HotRoute {
  return defineHotRoute({
    isHot: true,
    method: 'POST',
    path,
    wire: messagesWire,
    summary: 'Message',
    tag: 'Messages',
    access: inProject('models.use'),
    body: MessagesRequest,
    responses: {
      200: {
        description: 'The message; with `stream` the events of one, from `message_start` to `message_stop`.',
        schema: Message,
      },
    },
    handle: (request) => {
      const record = createInferenceRecord('messages')
      return sendInference(request, record, () =>
        chat.messages(toInference(request, record, wireHeaders(request.exchange))),
      )
    },
  })
}

/** Headers with the version and beta features of the wire. They are passed unchanged to upstreams that speak it. */
const WIRE_HEADERS = ['anthropic-version', 'anthropic-beta'] as const

function wireHeaders({ incoming }: Exchange): readonly string[] {
  return WIRE_HEADERS.flatMap((name) => {
    const value = incoming.headers[name]
    if (typeof value !== 'string') return []
    if (!VISIBLE.test(value)) throw invalidValue(name, `The header ${name} must be plain text.`)
    return [name, value]
  })
}

const VISIBLE = /^[\x20-\x7e]*$/

function countTokens(path: string, { chat, limits }: MessageRouteOptions): Route {
  return defineRoute({
    method: 'POST',
    path,
    wire: messagesWire,
    summary: 'Count the tokens of a message',
    tag: 'Messages',
    access: inProject('models.use'),
    body: CountTokensRequest,
    responses: { 200: { description: 'How long the prompt is. Costs nothing.', schema: TokenCount } },
    handle: (request) =>
      runFree(limits, request, () => {
        const { body, caller, exchange } = request
        const asked = { caller, body, text: JSON.stringify(body), exchange }
        const record = createInferenceRecord('messages')
        return chat.countMessageTokens(toInference(asked, record, wireHeaders(exchange)))
      }),
  })
}
