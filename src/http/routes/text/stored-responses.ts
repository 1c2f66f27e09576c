import { Type } from 'typebox'
import type { Responses } from '../../../modules/responses/responses.ts'
import { ResponseObject } from '../../../wires/openai-responses/response-answer.ts'
import { responsesWire } from '../../../wires/openai-responses/responses-wire.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { followUntilShutdown } from '../../answers/follow-until-shutdown.ts'
import { includeMembers, ItemList, ItemsQuery, listItemsAnswer, readItemPage } from './item-list.ts'
import { sendEventReply } from '../../answers/send-event-reply.ts'

const ResponseParams = Type.Object({
  id: Type.String({ maxLength: 256, description: 'The id of a response.' }),
})

const ResponseQuery = Type.Object({
  ...includeMembers,
  stream: Type.Optional(
    Type.Boolean({ description: 'Answer with the events of the response, as they come or as they were.' }),
  ),
  starting_after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_646,
      description: 'The number of the last event that is known.',
    }),
  ),
})

const Deleted = Type.Object({
  id: Id,
  object: objectName('response'),
  deleted: Type.Literal(true, { description: 'Whether it is deleted now.' }),
})

/** Routes for stored responses. */
export const storedResponseRoutes = ({ responses }: { responses: Responses }): Route[] => {
  const shared = {
    tag: 'Responses',
    access: inProject('models.use'),
    wire: responsesWire,
    params: ResponseParams,
  } as const
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/responses/:id',
      summary: 'Read a stored response, or its events',
      query: ResponseQuery,
      responses: {
        200: {
          description: 'The response as it is now; with `stream` its events, until it has ended.',
          schema: ResponseObject,
          otherTypes: { 'text/event-stream': Type.String() },
        },
      },
      handle: async ({ caller, params, query, exchange, reply }) => {
        if (query.stream !== true) return responses.read(caller, params.id)
        const { cancellation } = exchange
        const from = { startingAfter: query.starting_after ?? -1, cancellation }
        const batches = await responses.follow(caller, params.id, from)
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
      handle: async ({ caller, params }) => responses.cancel(caller, params.id),
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/v1/responses/:id',
      summary: 'Delete a stored response',
      responses: { 200: { description: 'It is gone.', schema: Deleted } },
      handle: async ({ caller, params }) => {
        await responses.delete(caller, params.id)
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
      handle: async ({ caller, params, query, exchange }) => {
        const countRead = (bytes: number): void => exchange.countRead(bytes)
        return listItemsAnswer(
          await responses.listInputItems(caller, params.id, readItemPage(query), countRead),
        )
      },
    }),
  ]
}
