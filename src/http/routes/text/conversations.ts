import { Type } from 'typebox'
import type { ItemConversations, Responses } from '../../../modules/responses/responses.ts'
import { namedValues } from '../../../wires/named-values.ts'
import { nullable } from '../../../wires/nullable.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { responsesWire } from '../../../wires/openai-responses/responses-wire.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { Item, ItemList, ItemsQuery, listItemsAnswer, readItemPage } from './item-list.ts'

/** As many as OpenAI takes in one request. */
const ITEMS_MAX = 20

const NewItem = Type.Object({
  type: Type.Optional(
    Type.String({ maxLength: 128, description: 'The kind of the item; a message unless told.' }),
  ),
})

const Metadata = namedValues(Type.String({ maxLength: 512 }), { count: 16, length: 64 })

const ConversationOrder = Type.Object(
  {
    items: nullable(
      Type.Array(NewItem, {
        maxItems: ITEMS_MAX,
        description: 'The first items: messages, calls and results.',
      }),
    ),
    metadata: nullable(Metadata, 'Pairs of text that you attach. They come back unchanged.'),
  },
  {
    title: 'NewConversation',
    examples: [{ items: [{ role: 'user', content: 'My name is Ada.' }], metadata: { topic: 'names' } }],
  },
)

const ConversationChange = Type.Object(
  { metadata: nullable(Metadata, 'Pairs of text that you attach. They come back unchanged.') },
  { title: 'ConversationChange', examples: [{ metadata: { topic: 'numbers' } }] },
)

const NewItems = Type.Object(
  { items: Type.Array(NewItem, { minItems: 1, maxItems: ITEMS_MAX, description: 'What is added.' }) },
  { title: 'NewItems', examples: [{ items: [{ role: 'user', content: 'I like numbers.' }] }] },
)

const Conversation = Type.Object({
  id: Id,
  object: objectName('conversation'),
  created_at: Type.Integer({ description: 'In seconds.' }),
  metadata: Type.Object({}, { description: 'Texts of the client.' }),
})

const Deleted = Type.Object({
  id: Id,
  object: objectName('conversation.deleted'),
  deleted: Type.Literal(true, { description: 'Whether it is deleted now.' }),
})

const Params = Type.Object({
  id: Type.String({ maxLength: 256, description: 'The id of a conversation of responses.' }),
})
const ItemParams = Type.Object({
  ...Params.properties,
  item_id: Type.String({ maxLength: 256, description: 'The id of an item.' }),
})

type Stored = Awaited<ReturnType<ItemConversations['read']>>

function toConversation({ id, createdAt, metadata }: Stored): object {
  return { id, object: 'conversation', created_at: Math.floor(createdAt.getTime() / 1000), metadata }
}

/** Conversations of OpenAI's wire, which responses continue and add to. */
export const conversationRoutes = ({
  responses,
}: {
  responses: Pick<Responses, 'conversations'>
}): Route[] => {
  const { conversations } = responses
  const shared = { tag: 'Responses', access: inProject('models.use'), wire: responsesWire } as const
  const told = (description: string) => ({ 200: { description, schema: Conversation } })
  return [
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/conversations',
      summary: 'Begin a conversation',
      body: ConversationOrder,
      responses: told('The conversation.'),
      handle: async ({ caller, body }) => {
        const order = { items: body.items ?? [], metadata: body.metadata ?? {} }
        return toConversation(await conversations.create(caller, order))
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/conversations/:id',
      summary: 'Read a conversation',
      params: Params,
      responses: told('The conversation, without its items.'),
      handle: async ({ caller, params }) => toConversation(await conversations.read(caller, params.id)),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/conversations/:id',
      summary: 'Change the metadata of a conversation',
      params: Params,
      body: ConversationChange,
      responses: told('The conversation with its new metadata.'),
      handle: async ({ caller, params, body }) =>
        toConversation(await conversations.setMetadata(caller, params.id, body.metadata ?? {})),
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/v1/conversations/:id',
      summary: 'Delete a conversation with its items',
      params: Params,
      responses: { 200: { description: 'It is gone.', schema: Deleted } },
      handle: async ({ caller, params }) => {
        await conversations.delete(caller, params.id)
        return { id: params.id, object: 'conversation.deleted', deleted: true }
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/conversations/:id/items',
      summary: 'Add items to a conversation',
      params: Params,
      body: NewItems,
      responses: { 200: { description: 'The items that were added.', schema: ItemList } },
      handle: async ({ caller, params, body }) => {
        const items = await conversations.addItems(caller, params.id, body.items)
        return listItemsAnswer({ items, hasMore: false })
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/conversations/:id/items',
      summary: 'List the items of a conversation',
      params: Params,
      query: ItemsQuery,
      responses: { 200: { description: 'A page of items.', schema: ItemList } },
      handle: async ({ caller, params, query }) =>
        listItemsAnswer(await conversations.listItems(caller, params.id, readItemPage(query))),
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/conversations/:id/items/:item_id',
      summary: 'Read an item of a conversation',
      params: ItemParams,
      responses: { 200: { description: 'The item.', schema: Item } },
      handle: async ({ caller, params }) => conversations.readItem(caller, params.id, params.item_id),
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/v1/conversations/:id/items/:item_id',
      summary: 'Delete an item of a conversation',
      params: ItemParams,
      responses: told('The conversation that it was in.'),
      handle: async ({ caller, params }) =>
        toConversation(await conversations.deleteItem(caller, params.id, params.item_id)),
    }),
  ]
}
