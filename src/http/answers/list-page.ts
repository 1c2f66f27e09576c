import { Type, type Static, type TProperties, type TSchema } from 'typebox'
import { invalidValue } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { objectName } from '../../wires/usual-members.ts'

export const PAGE_LIMIT_DEFAULT = 20
const PAGE_LIMIT_MAX = 100

/** The query of every list; routes with filters extend its properties. */
export const ListQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_LIMIT_MAX,
      default: PAGE_LIMIT_DEFAULT,
      description: 'How many entries at most.',
    }),
  ),
  after: Type.Optional(Type.String({ maxLength: 256, description: 'A cursor from `next_cursor`.' })),
})

/** The second name of a list besides `data`, because clients read one or the other. */
export type ListName =
  | 'accounts'
  | 'alerts'
  | 'chats'
  | 'codes'
  | 'conversations'
  | 'datasets'
  | 'deliveries'
  | 'deployments'
  | 'entries'
  | 'events'
  | 'grants'
  | 'identities'
  | 'keys'
  | 'models'
  | 'operators'
  | 'passkeys'
  | 'payments'
  | 'price_adjustments'
  | 'prices'
  | 'providers'
  | 'records'
  | 'redemptions'
  | 'results'
  | 'runs'
  | 'sessions'
  | 'statements'
  | 'tasks'
  | 'templates'
  | 'tiers'
  | 'voices'
  | 'votes'

/** The schema of a list, with the members that only this list has, or has otherwise. */
export function listSchema(name: ListName, item: TSchema, others: TProperties = {}): TSchema {
  return Type.Object({
    object: objectName('list'),
    data: Type.Array(item, { description: 'The entries of this page, in order.' }),
    [name]: Type.Array(item, { description: 'The same entries as `data`.' }),
    total: Type.Integer({ description: 'How many entries the whole list has.' }),
    has_more: Type.Boolean({ description: 'Whether there is a further page. Its cursor is `next_cursor`.' }),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Send it as `after` for the next page.',
    }),
    ...others,
  })
}

export function parsePageRequest({ limit, after }: Static<typeof ListQuery>): PageRequest {
  if (after !== undefined && !isUuid(after)) {
    throw invalidValue('after', 'after must be a cursor from the next_cursor of an earlier page.')
  }
  return { limit: limit ?? PAGE_LIMIT_DEFAULT, afterId: after ?? null }
}

export function listAnswer<Item extends { readonly id: string }>(
  name: ListName,
  { items, total, hasMore }: Page<Item>,
  toWire: (item: Item) => unknown,
): Record<string, unknown> {
  const data = items.map(toWire)
  const nextCursor = hasMore ? (items.at(-1)?.id ?? null) : null
  return { object: 'list', data, [name]: data, total, has_more: hasMore, next_cursor: nextCursor }
}

/** Formats a list that is always sent as a whole. */
export function wholeList(name: ListName, data: readonly object[]): Record<string, unknown> {
  return { object: 'list', data, [name]: data, total: data.length, has_more: false, next_cursor: null }
}
