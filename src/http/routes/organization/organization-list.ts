import { Type, type Static, type TProperties, type TSchema } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { OpenPage, OrderedPageRequest, PageRequest } from '../../../kernel/page.ts'
import { parseWireId, type IdKind } from '../../../wires/organization-ids.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { ListQuery, PAGE_LIMIT_DEFAULT } from '../../answers/list-page.ts'

export { PAGE_LIMIT_DEFAULT as PAGE_LIMIT } from '../../answers/list-page.ts'

/** The query of a list of the Administration API. */
export const OrganizationListQuery = Type.Object({
  limit: ListQuery.properties.limit,
  after: Type.Optional(
    Type.String({
      maxLength: 256,
      description: 'The id of an entry, usually `last_id`; those behind it follow.',
    }),
  ),
})

/** The schema of a list of the Administration API. */
export function organizationList(title: string, item: TSchema): TSchema {
  const members: TProperties = {
    object: objectName('list'),
    data: Type.Array(item, { description: 'The entries of this page, in order.' }),
    first_id: Type.Union([Type.String(), Type.Null()], { description: 'Of the first entry of this page.' }),
    last_id: Type.Union([Type.String(), Type.Null()], {
      description: 'Send it as `after` for the next page.',
    }),
    has_more: Type.Boolean({ description: 'Whether there is a further page.' }),
  }
  return Type.Object(members, { title })
}

/** @param kind the kind of ids in the list. Keys have plain ids. */
export function readPage(
  kind: IdKind,
  { limit = PAGE_LIMIT_DEFAULT, after }: Static<typeof OrganizationListQuery>,
): PageRequest {
  return { limit, afterId: readCursor(kind, 'after', after) }
}

/** Returns the id that a page begins behind, or null. */
export function readCursor(kind: IdKind, name: 'after' | 'before', text: string | undefined): string | null {
  const id = text === undefined ? null : parseWireId(kind, text)
  if (text !== undefined && id === null) throw invalidValue(name, `${name} must come from another page.`)
  return id
}

export function listOf<Item>(
  { items, hasMore }: OpenPage<Item>,
  toWire: (item: Item) => { readonly id: string },
): Record<string, unknown> {
  const data = items.map(toWire)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  }
}

/** The schema of the answer of a deletion. */
export function deletedAnswer<const Name extends string>(name: Name) {
  return Type.Object({
    object: objectName(name),
    id: Type.String({ description: 'Of what was deleted.' }),
    deleted: Type.Literal(true, { description: 'Whether it is deleted now.' }),
  })
}

export function unixSeconds(ms: number): number {
  return Math.floor(ms / 1000)
}

/** The query of the lists that newer parts of the Administration API have: in both directions, with `next`. */
export const OrderedListQuery = Type.Object({
  limit: ListQuery.properties.limit,
  after: Type.Optional(
    Type.String({ maxLength: 256, description: '`next` of the page before; the entries behind it follow.' }),
  ),
  order: Type.Optional(
    Type.Enum(['asc', 'desc'], { default: 'desc', description: 'By age: `desc` begins with the newest.' }),
  ),
})

/** The schema of a list in both directions. */
export function orderedList(title: string, item: TSchema): TSchema {
  const members: TProperties = {
    object: objectName('list'),
    data: Type.Array(item, { description: 'The entries of this page, in order.' }),
    has_more: Type.Boolean({ description: 'Whether there is a further page.' }),
    next: Type.Union([Type.String(), Type.Null()], {
      description: 'Send it as `after` for the next page. Null on the last page.',
    }),
  }
  return Type.Object(members, { title })
}

export function readOrderedPage(kind: IdKind, query: Static<typeof OrderedListQuery>): OrderedPageRequest {
  return { ...readPage(kind, query), order: query.order ?? 'desc' }
}

/** @param cursorOf returns the id of an entry as clients send it back */
export function orderedListOf<Item>(
  { items, hasMore }: OpenPage<Item>,
  toWire: (item: Item) => object,
  cursorOf: (item: Item) => string,
): Record<string, unknown> {
  const last = items.at(-1)
  return {
    object: 'list',
    data: items.map(toWire),
    has_more: hasMore,
    next: hasMore && last !== undefined ? cursorOf(last) : null,
  }
}
