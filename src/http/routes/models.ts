import { Type } from 'typebox'
import { modelNotFound } from '../../kernel/app-error.ts'
import { ModelCard, toModelCard, type Catalog, type CatalogModel } from '../../modules/catalog/catalog.ts'
import type { MayUseSandbox } from '../../modules/inference/inference.ts'
import type { Caller } from '../../modules/keys/keys.ts'
import { defineRoute, type Route } from '../route.ts'

const Query = Type.Object({
  category: Type.Optional(
    Type.String({ description: 'One category, such as `llm`. Service models need it.' }),
  ),
  capability: Type.Optional(Type.String({ description: 'One capability tag, such as `vision`.' })),
  vendor: Type.Optional(Type.String({ description: 'One vendor, in any case.' })),
  include: Type.Optional(
    Type.Enum(['unlisted'], {
      description: '`unlisted` adds models that work but are not in the plain list.',
    }),
  ),
})

const Params = Type.Object({ id: Type.String({ description: 'A model id or alias.' }) })

const ModelList = Type.Object({ object: Type.Literal('list'), data: Type.Array(ModelCard) })

export interface ModelRoutesOptions {
  readonly catalog: Pick<Catalog, 'list' | 'resolve'>
  readonly isProviderConfigured: (providerId: string) => boolean
  readonly mayUseSandbox: MayUseSandbox
}

export const modelRoutes = ({
  catalog,
  isProviderConfigured,
  mayUseSandbox,
}: ModelRoutesOptions): Route[] => {
  const toCard = (model: CatalogModel, caller: Caller): ModelCard =>
    toModelCard(model, { isProviderConfigured, isSandboxAllowed: mayUseSandbox(caller) })

  return [
    defineRoute({
      method: 'GET',
      path: '/v1/models',
      summary: 'List models',
      tag: 'Models',
      scope: 'inference',
      query: Query,
      responses: { 200: { description: 'The models this key may use.', schema: ModelList } },
      handle: async ({ query, caller }) => ({
        object: 'list',
        data: catalog
          .list({ ...query, includeUnlisted: query.include === 'unlisted' })
          .filter((model) => isAllowed(model, caller))
          .map((model) => toCard(model, caller)),
      }),
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/models/:id',
      summary: 'Read a model',
      tag: 'Models',
      scope: 'inference',
      params: Params,
      responses: { 200: { description: 'The model, also when asked for by an alias.', schema: ModelCard } },
      handle: async ({ params, caller }) => {
        const model = catalog.resolve(params.id)
        if (!model || !isAllowed(model, caller)) throw modelNotFound(params.id)
        return toCard(model, caller)
      },
    }),
  ]
}

function isAllowed({ id, aliases }: CatalogModel, { allowedModels }: Caller): boolean {
  return allowedModels === null || [id, ...aliases].some((name) => allowedModels.has(name))
}
