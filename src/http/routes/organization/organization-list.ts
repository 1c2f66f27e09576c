import { Type, type Static, type TProperties, type TSchema } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { OpenPage, PageRequest } from '../../../kernel/page.ts'
import { parseWireId } from '../../../wires/organization-ids.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { ListQuery, PAGE_LIMIT_DEFAULT } from '../../answers/list-page.ts'

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
  kind: Parameters<typeof parseWireId>[0],
  { limit = PAGE_LIMIT_DEFAULT, after }: Static<typeof OrganizationListQuery>,
): PageRequest {
  const afterId = after === undefined ? null : parseWireId(kind, after)
  if (after !== undefined && afterId === null)
    throw invalidValue('after', 'after must be the last_id of an earlier page.')
  return { limit, afterId }
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
