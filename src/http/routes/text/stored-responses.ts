import { Type } from 'typebox'
import type { Responses } from '../../../modules/responses/responses.ts'
import { ResponseObject } from '../../../wires/openai-responses/response-answer.ts'
import { responsesWire } from '../../../wires/openai-responses/responses-wire.ts'
import { defineRoute, type Route } from '../../route.ts'
import { followUntilShutdown } from '../../answers/follow-until-shutdown.ts'
import { sendEventReply } from '../../answers/send-event-reply.ts'

const ITEMS_LIMIT_DEFAULT = 20
const ITEMS_LIMIT_MAX = 100

const ResponseParams = Type.Object({
  id: Type.String({ maxLength: 256, description: 'The id of a response.' }),
})

const Includable = Type.Enum([
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'file_search_call.results',
  'message.input_image.image_url',
  'message.output_text.logprobs',
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  'web_search_call.results',
])

const Include = Type.Optional(
  Type.Union([Includable, Type.Array(Includable, { maxItems: 64 })], {
    description: 'Members of items. Those that are stored are told with or without it.',
  }),
)

/** Official clients send lists with brackets in the name. Both forms are accepted. */
const includeMembers = { include: Include, 'include[]': Include }

const ResponseQuery = Type.Object({
  ...includeMembers,
  stream: Type.Optional(
    Type.Boolean({ description: 'Answer with the events of a response in the background.' }),
  ),
  starting_after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_646,
      description: 'The number of the last event that is known.',
    }),
  ),
})

const ItemsQuery = Type.Object({
  ...includeMembers,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: ITEMS_LIMIT_MAX,
      default: ITEMS_LIMIT_DEFAULT,
      description: 'How many items at most.',
    }),
  ),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'Newest first unless told.' })),
  after: Type.Optional(
    Type.String({ maxLength: 256, description: 'The id of an item; those behind it follow.' }),
  ),
})

const Item = Type.Object({
  id: Type.String(),
  type: Type.String({ description: 'The kind of the item.' }),
})

const ItemList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(Item),
  first_id: Type.Union([Type.String(), Type.Null()], { description: 'Of the first item of this page.' }),
  last_id: Type.Union([Type.String(), Type.Null()], { description: 'Send it as `after` for the next page.' }),
  has_more: Type.Boolean(),
})

const Deleted = Type.Object({
  id: Type.String(),
  object: Type.Literal('response'),
  deleted: Type.Literal(true),
})

/** Routes for stored responses. */
export const storedResponseRoutes = ({ responses }: { responses: Responses }): Route[] => {
  const shared = {
    tag: 'Responses',
    scope: 'inference',
    wire: responsesWire,
    params: ResponseParams,
  } as const
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/responses/:id',
      summary: 'Read a stored response, or the events of one in the background',
      query: ResponseQuery,
      responses: {
        200: {
          description: 'The response as it is now; with `stream` its events, until it has ended.',
          schema: ResponseObject,
          otherTypes: { 'text/event-stream': Type.String() },
        },
      },
      handle: async ({ caller, params, query, exchange, reply }) => {
        if (query.stream !== true) return responses.read(caller.accountId, params.id)
        const { cancellation } = exchange
        const from = { startingAfter: query.starting_after ?? -1, cancellation }
        const batches = await responses.follow(caller.accountId, params.id, from)
        await sendEventReply(reply, followUntilShutdown(batches, exchange), exchange, responsesWire)
        return undefined
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/responses/:id/cancel',
      summary: 'Cancel a response in the background',
      responses: {
        200: { description: 'The response. One that has ended stays as it is.', schema: ResponseObject },
      },
      handle: async ({ caller, params }) => responses.cancel(caller.accountId, params.id),
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/v1/responses/:id',
      summary: 'Delete a stored response',
      responses: { 200: { description: 'It is gone.', schema: Deleted } },
      handle: async ({ caller, params }) => {
        await responses.delete(caller.accountId, params.id)
        return { id: params.id, object: 'response', deleted: true }
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/responses/:id/input_items',
      summary: 'List what a response was given',
      query: ItemsQuery,
      responses: { 200: { description: 'Items of the prompt, history included.', schema: ItemList } },
      handle: async ({ caller, params, query }) => {
        const { limit = ITEMS_LIMIT_DEFAULT, order = 'desc', after = null } = query
        const page = { limit, order, after }
        const { items, hasMore } = await responses.listInputItems(caller.accountId, params.id, page)
        return {
          object: 'list',
          data: items,
          first_id: items[0]?.['id'] ?? null,
          last_id: items.at(-1)?.['id'] ?? null,
          has_more: hasMore,
        }
      },
    }),
  ]
}
