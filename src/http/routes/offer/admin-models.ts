import { Type } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Catalog } from '../../../modules/catalog/catalog.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import type { ModelChange, Offer } from '../../../modules/offer/offer.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { ofGateway } from '../../access.ts'
import { ListQuery, listSchema, PAGE_LIMIT_DEFAULT } from '../../answers/list-page.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  ModelAnswer,
  ModelChangeBody,
  ModelCreateBody,
  modelToWire,
  readModelInput,
  readModelPatch,
} from './model-wire.ts'

export const ModelParams = Type.Object({
  id: Type.String({ maxLength: 256, description: 'The id of a model. A slash in it is written as `%2F`.' }),
})
const ModelQuery = Type.Object({
  limit: ListQuery.properties.limit,
  after: Type.Optional(Type.String({ maxLength: 256, description: 'The id from `next_cursor`.' })),
  source: Type.Optional(Type.Enum(['file', 'database'], { description: 'Only models of this source.' })),
})
const DeletedAnswer = Type.Object({
  id: Id,
  object: objectName('model_configuration.deleted'),
  deleted: Type.Literal(true, { description: 'Whether new requests find it no more.' }),
})

interface ModelRouteOptions {
  readonly catalog: Pick<Catalog, 'listAll' | 'find'>
  readonly offer: Pick<Offer, 'models'>
  readonly audit: Audit
  readonly clock: Clock
}

/** Operators add, change and remove models while the gateway runs. */
export const adminModelRoutes = ({ catalog, offer, audit, clock }: ModelRouteOptions): Route[] => {
  const shared = { tag: 'Operator' } as const
  const manage = { ...shared, access: ofGateway('gateway.manage') } as const
  const { models } = offer

  const describe = (id: string): Record<string, unknown> => {
    const timed = catalog.find(id)
    if (timed === undefined) throw notFound('model')
    return modelToWire(timed, models.find(id), clock.nowMs())
  }
  const make = (actor: Caller, action: string, id: string, change: ModelChange, reason?: string) =>
    audit.run(
      {
        actor,
        action,
        target: { kind: 'model', id },
        details: { ...change.difference, ...(reason === undefined ? {} : { reason }) },
      },
      async () => {
        await change.make()
        return { id }
      },
    )

  return [
    defineRoute({
      ...shared,
      access: ofGateway('gateway.read'),
      method: 'GET',
      path: '/v1/admin/models',
      summary: 'List models as they are configured',
      query: ModelQuery,
      responses: {
        200: { description: 'Models by id.', schema: listSchema('models', ModelAnswer) },
      },
      handle: async ({ query }) => {
        const { limit = PAGE_LIMIT_DEFAULT, after = '', source } = query
        const chosen = catalog
          .listAll()
          .filter(
            ({ first }) => source === undefined || (first.isOffered === true) === (source === 'database'),
          )
          .toSorted((a, b) => (a.first.id < b.first.id ? -1 : 1))
        const rest = chosen.filter(({ first }) => first.id > after)
        const page = rest.slice(0, limit)
        const nowMs = clock.nowMs()
        const data = page.map((timed) => modelToWire(timed, models.find(timed.first.id), nowMs))
        const hasMore = rest.length > limit
        const last = page.at(-1)?.first.id ?? null
        return {
          object: 'list',
          data,
          models: data,
          total: chosen.length,
          has_more: hasMore,
          next_cursor: hasMore ? last : null,
        }
      },
    }),
    defineRoute({
      ...manage,
      method: 'POST',
      path: '/v1/admin/models',
      summary: 'Add a model',
      body: ModelCreateBody,
      otherErrors: [409],
      responses: { 201: { description: 'Every process serves it from now on.', schema: ModelAnswer } },
      handle: async ({ caller, body, reply }) => {
        const change = await models.add(readModelInput(body, caller.keyId))
        await make(caller, 'model.create', body.id, change, body.reason)
        reply.code(201)
        return describe(body.id)
      },
    }),
    defineRoute({
      ...shared,
      access: ofGateway('gateway.read'),
      method: 'GET',
      path: '/v1/admin/models/:id',
      summary: 'Read a model as it is configured',
      params: ModelParams,
      otherErrors: [404],
      responses: { 200: { description: 'The model.', schema: ModelAnswer } },
      handle: async ({ params }) => describe(params.id),
    }),
    defineRoute({
      ...manage,
      method: 'PATCH',
      path: '/v1/admin/models/:id',
      summary: 'Change a model',
      params: ModelParams,
      body: ModelChangeBody,
      otherErrors: [404, 409],
      responses: { 200: { description: 'Every process serves it so from now on.', schema: ModelAnswer } },
      handle: async ({ caller, params, body }) => {
        const change = await models.change(params.id, readModelPatch(body, caller.keyId))
        await make(caller, 'model.change', params.id, change, body.reason)
        return describe(params.id)
      },
    }),
    defineRoute({
      ...manage,
      method: 'DELETE',
      path: '/v1/admin/models/:id',
      summary: 'Remove a model',
      params: ModelParams,
      otherErrors: [404, 409],
      responses: {
        200: { description: 'Requests and tasks that use it end as usual.', schema: DeletedAnswer },
      },
      handle: async ({ caller, params }) => {
        const change = await models.remove(params.id)
        await make(caller, 'model.delete', params.id, change)
        return { id: params.id, object: 'model_configuration.deleted', deleted: true }
      },
    }),
  ]
}
