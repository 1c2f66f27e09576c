import { Type } from 'typebox'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import type { Offer, ProviderChange } from '../../../modules/offer/offer.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { ProviderParams, TestAnswer, testToWire, type ProviderStatuses } from './admin-providers.ts'
import { ProviderAnswer } from './provider-answer.ts'
import {
  ProviderChangeBody,
  ProviderCreateBody,
  ProviderTryBody,
  readDraft,
  readPatch,
} from './provider-forms.ts'

const DeletedAnswer = Type.Object({
  id: Id,
  object: objectName('provider.deleted'),
  deleted: Type.Literal(true, { description: 'Whether requests use it no more.' }),
})
const ModelsAnswer = Type.Object(
  {
    object: objectName('list'),
    provider: Type.String({ description: 'The provider that was asked.' }),
    data: Type.Array(
      Type.Object({
        id: Type.String({ description: "The provider's name of the model." }),
        object: objectName('provider_model'),
      }),
      { description: 'What the first key of the provider can see.' },
    ),
  },
  { title: 'ProviderModels' },
)

interface ChangeRouteOptions {
  readonly offer: Pick<Offer, 'addProvider' | 'changeProvider' | 'removeProvider'>
  readonly providers: ProviderStatuses
  readonly audit: Audit
}

/** Operators add, change and remove providers while the gateway runs. */
export const adminProviderChangeRoutes = ({ offer, providers, audit }: ChangeRouteOptions): Route[] => {
  const shared = { tag: 'Operator' } as const
  const manage = { ...shared, access: ofGateway('gateway.manage') } as const

  const make = (actor: Caller, action: string, name: string, change: ProviderChange) =>
    audit.run(
      { actor, action, target: { kind: 'provider', id: name }, details: change.difference },
      async () => {
        await change.make()
        return { id: name }
      },
    )

  return [
    defineRoute({
      ...manage,
      method: 'POST',
      path: '/v1/admin/providers',
      summary: 'Add a provider',
      body: ProviderCreateBody,
      otherErrors: [409],
      responses: { 201: { description: 'Every process uses it from now on.', schema: ProviderAnswer } },
      handle: async ({ caller, body, reply }) => {
        const change = await offer.addProvider(readDraft(body))
        await make(caller, 'provider.create', body.name, change)
        reply.code(201)
        return providers.read(body.name)
      },
    }),
    defineRoute({
      ...manage,
      method: 'POST',
      path: '/v1/admin/providers/test',
      summary: 'Try a provider before it is added',
      body: ProviderTryBody,
      otherErrors: [409, 429, 503],
      responses: { 200: { description: 'How the call went, also if it failed.', schema: TestAnswer } },
      handle: async ({ caller, body, exchange }) => {
        const change = await offer.addProvider(readDraft(body))
        const test = providers.prepareTestOf(change, {
          model: body.model,
          upstreamModel: body.upstream_model,
        })
        const probe = await audit.run(
          {
            actor: caller,
            action: 'provider.try',
            target: { kind: 'provider', id: body.name },
            details: { model: test.model, base_url: change.provider?.baseUrl ?? null },
          },
          async () => ({ id: body.name, ...(await test.run(exchange.cancellation)) }),
        )
        return testToWire(body.name, test, probe)
      },
    }),
    defineRoute({
      ...shared,
      access: ofGateway('gateway.read'),
      method: 'GET',
      path: '/v1/admin/providers/:name',
      summary: 'Read a provider',
      params: ProviderParams,
      otherErrors: [404],
      responses: { 200: { description: 'The provider with its state.', schema: ProviderAnswer } },
      handle: ({ params }) => providers.read(params.name),
    }),
    defineRoute({
      ...manage,
      method: 'PATCH',
      path: '/v1/admin/providers/:name',
      summary: 'Change a provider',
      params: ProviderParams,
      body: ProviderChangeBody,
      otherErrors: [404, 409],
      responses: { 200: { description: 'Every process uses it so from now on.', schema: ProviderAnswer } },
      handle: async ({ caller, params, body }) => {
        const change = await offer.changeProvider(params.name, readPatch(body))
        await make(caller, 'provider.change', params.name, change)
        return providers.read(params.name)
      },
    }),
    defineRoute({
      ...manage,
      method: 'DELETE',
      path: '/v1/admin/providers/:name',
      summary: 'Remove a provider',
      params: ProviderParams,
      otherErrors: [404, 409],
      responses: {
        200: {
          description: 'Requests that use it end as usual; new ones do not use it.',
          schema: DeletedAnswer,
        },
      },
      handle: async ({ caller, params }) => {
        const change = await offer.removeProvider(params.name)
        await make(caller, 'provider.delete', params.name, change)
        return { id: params.name, object: 'provider.deleted', deleted: true }
      },
    }),
    defineRoute({
      ...shared,
      access: ofGateway('gateway.manage'),
      method: 'GET',
      path: '/v1/admin/providers/:name/models',
      summary: 'List what a provider offers',
      params: ProviderParams,
      otherErrors: [404, 502, 503],
      responses: { 200: { description: 'The models that its key can see.', schema: ModelsAnswer } },
      handle: async ({ params, exchange }) => {
        const names = await providers.listModels(params.name, exchange.cancellation)
        return {
          object: 'list',
          provider: params.name,
          data: names.map((id) => ({ id, object: 'provider_model' })),
        }
      },
    }),
  ]
}
