import { Type, type TSchema } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import { PAGE_COUNT_MAX } from '../../../modules/scim/scim.ts'
import { defineRoute, type Route } from '../../route.ts'
import { scimList, scimListOf } from './scim-list.ts'
import { GROUP_URN } from './scim-groups.ts'
import { scimAnswer, scimBaseUrl, scimRoute, type Resource, type ScimRouteOptions } from './scim-route.ts'
import { schemasOf } from './scim-schemas.ts'
import { Schemas, USER_URN } from './scim-user-wire.ts'

const PROVIDER_URN = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'
const RESOURCE_TYPE_URN = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType'
const AT = '/scim/v2'

const Described = (title: string, members: Record<string, TSchema> = {}) =>
  Type.Object(
    {
      schemas: Schemas,
      ...members,
      meta: Type.Unknown({ description: 'The kind and the URL of this description.' }),
    },
    { title },
  )

const can = (description: string) => Type.Unknown({ description })

const ProviderAnswer = Described('ScimServiceProviderConfig', {
  patch: can('Whether PATCH works.'),
  bulk: can('Whether bulk requests work. They do not.'),
  filter: can('Whether filters work, and how many resources a list has at most.'),
  changePassword: can('Whether passwords can be changed. There are none.'),
  sort: can('Whether lists are sorted as asked. They are not.'),
  etag: can('Whether resources have versions.'),
  authenticationSchemes: can('How a directory authenticates.'),
})
const named = {
  id: Type.String({ description: 'What it is called in a URL.' }),
  name: Type.String({ description: 'The name.' }),
  description: Type.String({ description: 'For people.' }),
}
const TypeAnswer = Described('ScimResourceType', {
  ...named,
  endpoint: Type.String({ description: 'Below the base URL.' }),
  schema: Type.String({ description: 'The URN of the schema.' }),
})
const SchemaAnswer = Described('ScimSchema', {
  ...named,
  attributes: Type.Unknown({ description: 'The attributes with their characteristics.' }),
})
const Params = Type.Object({ id: Type.String({ maxLength: 200, description: 'The id in the list.' }) })

/** What a directory reads before it writes. */
export const scimDiscoveryRoutes = (options: ScimRouteOptions): Route[] => {
  const { publicUrl } = options
  const shared = { ...scimRoute(options), method: 'GET' } as const
  return [
    defineRoute({
      ...shared,
      path: `${AT}/ServiceProviderConfig`,
      summary: 'What this SCIM service can do',
      responses: { 200: scimAnswer('What works.', ProviderAnswer) },
      handle: async (request) => providerConfig(scimBaseUrl(request, publicUrl)),
    }),
    defineRoute({
      ...shared,
      path: `${AT}/ResourceTypes`,
      summary: 'List the kinds of resources',
      responses: { 200: scimAnswer('People and groups.', scimList('ScimResourceTypeList', TypeAnswer)) },
      handle: async (request) => listAll(resourceTypes(scimBaseUrl(request, publicUrl))),
    }),
    defineRoute({
      ...shared,
      path: `${AT}/ResourceTypes/:id`,
      summary: 'Read a kind of resources',
      params: Params,
      responses: { 200: scimAnswer('The kind.', TypeAnswer) },
      handle: async (request) => find(resourceTypes(scimBaseUrl(request, publicUrl)), request.params.id),
    }),
    defineRoute({
      ...shared,
      path: `${AT}/Schemas`,
      summary: 'List the schemas',
      responses: { 200: scimAnswer('Those of people and groups.', scimList('ScimSchemaList', SchemaAnswer)) },
      handle: async (request) => listAll(schemasOf(scimBaseUrl(request, publicUrl))),
    }),
    defineRoute({
      ...shared,
      path: `${AT}/Schemas/:id`,
      summary: 'Read a schema',
      params: Params,
      responses: { 200: scimAnswer('The schema.', SchemaAnswer) },
      handle: async (request) => find(schemasOf(scimBaseUrl(request, publicUrl)), request.params.id),
    }),
  ]
}

function providerConfig(baseUrl: string) {
  return {
    schemas: [PROVIDER_URN],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: PAGE_COUNT_MAX },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'A SCIM token of the account, made in the console under Directory sync.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
  }
}

function resourceTypes(baseUrl: string): Resource[] {
  const describe = (id: string, endpoint: string, schema: string, description: string): Resource => ({
    schemas: [RESOURCE_TYPE_URN],
    id,
    name: id,
    description,
    endpoint,
    schema,
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${id}` },
  })
  return [
    describe('User', '/Users', USER_URN, 'A person of the account.'),
    describe('Group', '/Groups', GROUP_URN, 'A group of people.'),
  ]
}

function listAll(items: readonly Resource[]): object {
  return scimListOf({ items, total: items.length, startIndex: 1 }, (item) => item)
}

function find(items: readonly Resource[], id: string): Resource {
  const found = items.find((item) => item.id.toLowerCase() === id.toLowerCase())
  if (found === undefined) throw notFound('description')
  return found
}
