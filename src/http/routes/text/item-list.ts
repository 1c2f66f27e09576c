import { Type, type Static } from 'typebox'
import type { ItemPage, ItemPageRequest } from '../../../modules/responses/responses.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'

const ITEMS_LIMIT_DEFAULT = 20
const ITEMS_LIMIT_MAX = 100

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
export const includeMembers = { include: Include, 'include[]': Include }

/** The query of a page of items. */
export const ItemsQuery = Type.Object({
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

export const Item = Type.Object({
  id: Id,
  type: Type.String({ description: 'The kind of the item.' }),
})

export const ItemList = Type.Object({
  object: objectName('list'),
  data: Type.Array(Item, { description: 'The items of this page, in order.' }),
  first_id: Type.Union([Type.String(), Type.Null()], { description: 'Of the first item of this page.' }),
  last_id: Type.Union([Type.String(), Type.Null()], { description: 'Send it as `after` for the next page.' }),
  has_more: Type.Boolean({ description: 'Whether there is a further page. Its cursor is `next_cursor`.' }),
})

export function readItemPage(query: Static<typeof ItemsQuery>): ItemPageRequest {
  const { limit = ITEMS_LIMIT_DEFAULT, order = 'desc', after = null } = query
  return { limit, order, after }
}

export function listItemsAnswer({ items, hasMore }: ItemPage): object {
  return {
    object: 'list',
    data: items,
    first_id: items[0]?.['id'] ?? null,
    last_id: items.at(-1)?.['id'] ?? null,
    has_more: hasMore,
  }
}
