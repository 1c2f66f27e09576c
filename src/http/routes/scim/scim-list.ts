import { Type, type TSchema } from 'typebox'
import type { ScimPage } from '../../../modules/scim/scim.ts'
import type { Resource } from './scim-route.ts'

const LIST_URN = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

export function scimList(title: string, item: TSchema): TSchema {
  return Type.Object(
    {
      schemas: Type.Array(Type.String(), { description: 'What kind of message this is.' }),
      totalResults: Type.Integer({ description: 'How many resources there are, on all pages.' }),
      startIndex: Type.Integer({
        description: 'The position of the first resource of this page, from 1 on.',
      }),
      itemsPerPage: Type.Integer({ description: 'How many resources are on this page.' }),
      Resources: Type.Array(item, { description: 'The resources of this page, the oldest first.' }),
    },
    { title },
  )
}

export function scimListOf<Item>(page: ScimPage<Item>, toWire: (item: Item) => Resource): object {
  return {
    schemas: [LIST_URN],
    totalResults: page.total,
    startIndex: page.startIndex,
    itemsPerPage: page.items.length,
    Resources: page.items.map(toWire),
  }
}
