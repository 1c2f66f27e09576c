import { Type } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import type { Deprecations, KeyUseCursor } from '../../../modules/deprecations/deprecations.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { ofGateway } from '../../access.ts'
import { ListQuery, listSchema, PAGE_LIMIT_DEFAULT } from '../../answers/list-page.ts'
import { defineRoute, type Route } from '../../route.ts'
import { ModelParams } from './admin-models.ts'
import {
  AccountKeyUse,
  DAYS,
  DeprecationQuery,
  endingFields,
  endingToWire,
  keyUseToWire,
  readDeprecationQuery,
  useFields,
  useToWire,
} from './deprecation-wire.ts'

const Query = Type.Object({
  ...DeprecationQuery,
  used: Type.Optional(Type.Boolean({ description: 'Only models that somebody used in these days.' })),
  limit: ListQuery.properties.limit,
  after: Type.Optional(Type.String({ maxLength: 256, description: 'The id from `next_cursor`.' })),
})

const Answer = Type.Object(
  {
    object: objectName('deprecation'),
    ...endingFields,
    source: Type.Enum(['file', 'database'], {
      description: 'Where the model is configured: in the catalog or its file, or over the API.',
    }),
    ...useFields,
    accounts_count: Type.Integer({ description: 'How many accounts used it.' }),
  },
  { title: 'Deprecation' },
)

const KeysQuery = Type.Object({
  days: DAYS,
  limit: ListQuery.properties.limit,
  after: ListQuery.properties.after,
})

const KeysAnswer = Type.Object({
  object: objectName('list'),
  data: Type.Array(AccountKeyUse, { description: 'The keys of this page, in order.' }),
  keys: Type.Array(AccountKeyUse, { description: 'The same keys as `data`.' }),
  has_more: Type.Boolean({ description: 'Whether there is a further page. Its cursor is `next_cursor`.' }),
  next_cursor: Type.Union([Type.String(), Type.Null()], {
    description: 'Send it as `after` for the next page. Keys that are used meanwhile may change places.',
  }),
})

/** Models that will end, and who still uses them. */
export const adminDeprecationRoutes = ({ deprecations }: { deprecations: Deprecations }): Route[] => {
  const shared = { method: 'GET', tag: 'Operator', access: ofGateway('gateway.read') } as const
  return [
    defineRoute({
      ...shared,
      path: '/v1/admin/deprecations',
      summary: 'List models that end, and how much they are still used',
      query: Query,
      responses: {
        200: { description: 'The next one to end first.', schema: listSchema('models', Answer) },
      },
      handle: async ({ query }) => {
        const { limit = PAGE_LIMIT_DEFAULT, after, used } = query
        const all = (await deprecations.list(readDeprecationQuery(query))).filter(
          ({ use }) => used !== true || use !== null,
        )
        const start = after === undefined ? 0 : all.findIndex(({ model }) => model.id === after) + 1
        if (after !== undefined && start === 0)
          throw invalidValue('after', 'after must be a cursor from the next_cursor of an earlier page.')
        const page = all.slice(start, start + limit)
        const data = page.map((one) => ({
          object: 'deprecation',
          ...endingToWire(one),
          source: one.model.isOffered === true ? 'database' : 'file',
          ...useToWire(one.use),
          accounts_count: one.use?.accounts ?? 0,
        }))
        const hasMore = start + limit < all.length
        return {
          object: 'list',
          data,
          models: data,
          total: all.length,
          has_more: hasMore,
          next_cursor: hasMore ? (page.at(-1)?.model.id ?? null) : null,
        }
      },
    }),
    defineRoute({
      ...shared,
      path: '/v1/admin/deprecations/:id/keys',
      summary: 'List the keys that still use a model',
      params: ModelParams,
      query: KeysQuery,
      otherErrors: [404],
      responses: {
        200: { description: 'Those with the most requests first.', schema: KeysAnswer },
      },
      handle: async ({ params, query }) => {
        const { limit = PAGE_LIMIT_DEFAULT, after } = query
        const { items, hasMore } = await deprecations.listKeys(params.id, {
          days: readDeprecationQuery(query).days,
          limit,
          after: after === undefined ? null : readCursor(after),
        })
        const data = items.map((one) => ({
          object: 'deprecation.key',
          account: one.account,
          ...keyUseToWire(one),
        }))
        const last = items.at(-1)
        return {
          object: 'list',
          data,
          keys: data,
          has_more: hasMore,
          next_cursor: hasMore && last !== undefined ? `${last.totals.requests}_${last.key.id}` : null,
        }
      },
    }),
  ]
}

function readCursor(text: string): KeyUseCursor {
  const [, requests = '', keyId = ''] = /^(\d{1,15})_(.*)$/.exec(text) ?? []
  if (!isUuid(keyId))
    throw invalidValue('after', 'after must be a cursor from the next_cursor of an earlier page.')
  return { requests: Number(requests), keyId }
}
