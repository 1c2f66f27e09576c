import { Type, type Static } from 'typebox'
import { modelNotFound } from '../../../kernel/app-error.ts'
import { ModelCard, toModelCard, type Catalog, type CatalogModel } from '../../../modules/catalog/catalog.ts'
import type { MayUseSandbox } from '../../../modules/inference/inference.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import { mayUseModel } from '../../../modules/projects/projects.ts'
import {
  AnthropicModel,
  AnthropicModelList,
  AnthropicModelQuery,
  listAnthropicModels,
  toAnthropicModel,
} from '../../../wires/anthropic-messages/model-list.ts'
import { messagesWire } from '../../../wires/anthropic-messages/messages-wire.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const Query = Type.Object({
  category: Type.Optional(
    Type.String({ description: 'One category, such as `llm`. Service models need it.' }),
  ),
  capability: Type.Optional(Type.String({ description: 'One capability tag, such as `vision`.' })),
  vendor: Type.Optional(Type.String({ description: 'One vendor, in any case.' })),
  include: Type.Optional(
    Type.Enum(['unlisted', 'all'], {
      description:
        '`unlisted` adds models that work but are not in the plain list, `all` also the service models of every category.',
    }),
  ),
  ...AnthropicModelQuery,
})

const Params = Type.Object({ id: Type.String({ description: 'A model id or alias.' }) })

const ModelList = Type.Object({
  object: objectName('list'),
  data: Type.Array(ModelCard, {
    description: 'The models.',
  }),
})

export interface ModelRoutesOptions {
  readonly catalog: Pick<Catalog, 'generation' | 'resolve' | 'listFor' | 'resolveFor' | 'successorOf'>
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

  const listAllowed = (query: Static<typeof Query>, caller: Caller): CatalogModel[] =>
    catalog
      .listFor(caller, {
        ...query,
        includeUnlisted: query.include !== undefined,
        includeServices: query.include === 'all',
      })
      .filter((model) => isAllowed(model, caller) && mayUseModel(catalog, caller, model))

  const findAllowed = (id: string, caller: Caller): CatalogModel => {
    const model = catalog.resolveFor(caller, id)
    if (!model) throw modelNotFound(id, catalog.successorOf(caller, id))
    if (!(isAllowed(model, caller) || caller.allowedModels?.has(id))) throw modelNotFound(id)
    if (!mayUseModel(catalog, caller, model)) throw modelNotFound(id)
    return model
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/v1/models',
      summary: 'List models',
      tag: 'Models',
      access: inProject('models.use'),
      query: Query,
      responses: {
        200: {
          description:
            'The models this key may use. With the header `anthropic-version`, in the form of `GET /anthropic/v1/models`.',
          schema: ModelList,
        },
      },
      handle: async ({ query, caller, headers }) => {
        const models = listAllowed(query, caller)
        if (headers['anthropic-version'] !== undefined) return listAnthropicModels(models, query)
        return { object: 'list', data: models.map((model) => toCard(model, caller)) }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/models/:id',
      summary: 'Read a model',
      tag: 'Models',
      access: inProject('models.use'),
      params: Params,
      responses: {
        200: {
          description:
            'The model, also when asked for by an alias. With the header `anthropic-version`, in the form of Anthropic.',
          schema: ModelCard,
        },
      },
      handle: async ({ params, caller, headers }) => {
        const model = findAllowed(params.id, caller)
        return headers['anthropic-version'] === undefined ? toCard(model, caller) : toAnthropicModel(model)
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/anthropic/v1/models',
      wire: messagesWire,
      summary: 'List models in the form of Anthropic',
      tag: 'Messages',
      access: inProject('models.use'),
      query: Query,
      responses: {
        200: { description: 'A page of the models this key may use.', schema: AnthropicModelList },
      },
      handle: async ({ query, caller }) => listAnthropicModels(listAllowed(query, caller), query),
    }),
    defineRoute({
      method: 'GET',
      path: '/anthropic/v1/models/:id',
      wire: messagesWire,
      summary: 'Read a model in the form of Anthropic',
      tag: 'Messages',
      access: inProject('models.use'),
      params: Params,
      responses: {
        200: { description: 'The model, also when asked for by an alias.', schema: AnthropicModel },
      },
      handle: async ({ params, caller }) => toAnthropicModel(findAllowed(params.id, caller)),
    }),
  ]
}

function isAllowed({ id, aliases }: CatalogModel, { allowedModels }: Caller): boolean {
  return allowedModels === null || [id, ...aliases].some((name) => allowedModels.has(name))
}
