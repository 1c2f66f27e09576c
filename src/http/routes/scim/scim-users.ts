import { Type } from 'typebox'
import { readPatch, readUser, requireVersion, type ScimUser } from '../../../modules/scim/scim.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import { scimList, scimListOf } from './scim-list.ts'
import {
  directoryOf,
  noted,
  readScimPage,
  scimAnswer,
  scimBaseUrl,
  ScimListQuery,
  scimRoute,
  selectAttributes,
  SelectionQuery,
  type ScimRouteOptions,
} from './scim-route.ts'
import { UserAnswer, UserBody, userToWire, versionOf } from './scim-user-wire.ts'

const AT = '/scim/v2/Users'
const UserParams = Type.Object({
  id: Type.String({ maxLength: 100, description: 'The id of a person in SCIM.' }),
})

const PATCH_URN = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

export const PatchBody = Type.Object(
  {
    schemas: Type.Optional(Type.Unknown({ description: 'The URN of the message. Not checked.' })),
    Operations: Type.Optional(
      Type.Unknown({
        description: 'A list of operations with `op`, `path` and `value`, done in their order.',
      }),
    ),
  },
  {
    examples: [{ schemas: [PATCH_URN], Operations: [{ op: 'replace', path: 'active', value: false }] }],
  },
)

type Asked = Pick<RouteRequest<unknown, unknown, { id: string }>, 'exchange' | 'params' | 'headers'>

export const scimUserRoutes = (options: ScimRouteOptions): Route[] => {
  const { scim, publicUrl } = options
  const shared = scimRoute(options)
  const placeOf = ({ exchange, params, headers }: Asked) => ({
    directory: directoryOf(exchange),
    id: params.id,
    version: requireVersion(headers['if-match']?.toString()),
  })
  const answer = (
    request: Pick<RouteRequest<unknown, unknown, unknown>, 'headers' | 'reply'>,
    user: ScimUser,
  ) => {
    const resource = userToWire(user, scimBaseUrl(request, publicUrl))
    request.reply.header('etag', versionOf(user))
    return resource
  }
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: AT,
      summary: 'List people',
      query: ScimListQuery,
      responses: {
        200: scimAnswer('The people whom the directory manages.', scimList('ScimUserList', UserAnswer)),
      },
      handle: async (request) => {
        const { exchange, query } = request
        const baseUrl = scimBaseUrl(request, publicUrl)
        const page = await scim.users.list(directoryOf(exchange).accountId, readScimPage(query))
        return scimListOf(page, (user) => selectAttributes(userToWire(user, baseUrl), query))
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: AT,
      summary: 'Create a person',
      body: UserBody,
      query: SelectionQuery,
      responses: { 201: scimAnswer('The person, who is a member of the account.', UserAnswer) },
      handle: (request) =>
        noted(scim, request.exchange, async () => {
          const user = await scim.users.create(directoryOf(request.exchange), readUser(request.body))
          const resource = answer(request, user)
          request.reply.code(201).header('location', `${scimBaseUrl(request, publicUrl)}/Users/${user.id}`)
          return selectAttributes(resource, request.query)
        }),
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${AT}/:id`,
      summary: 'Read a person',
      params: UserParams,
      query: SelectionQuery,
      responses: { 200: scimAnswer('The person.', UserAnswer) },
      handle: async (request) => {
        const user = await scim.users.read(directoryOf(request.exchange).accountId, request.params.id)
        return selectAttributes(answer(request, user), request.query)
      },
    }),
    defineRoute({
      ...shared,
      method: 'PUT',
      path: `${AT}/:id`,
      summary: 'Replace a person',
      params: UserParams,
      query: SelectionQuery,
      body: UserBody,
      otherErrors: [412],
      responses: {
        200: scimAnswer('The person. If `active` is false, they are out everywhere.', UserAnswer),
      },
      handle: (request) =>
        noted(scim, request.exchange, async () => {
          const user = await scim.users.replace(placeOf(request), readUser(request.body))
          return selectAttributes(answer(request, user), request.query)
        }),
    }),
    defineRoute({
      ...shared,
      method: 'PATCH',
      path: `${AT}/:id`,
      summary: 'Change a person',
      params: UserParams,
      query: SelectionQuery,
      body: PatchBody,
      otherErrors: [412],
      responses: {
        200: scimAnswer('The person. If `active` is false, they are out everywhere.', UserAnswer),
      },
      handle: (request) =>
        noted(scim, request.exchange, async () => {
          const user = await scim.users.patch(placeOf(request), readPatch(request.body))
          return selectAttributes(answer(request, user), request.query)
        }),
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: `${AT}/:id`,
      summary: 'Remove a person',
      params: UserParams,
      otherErrors: [412],
      responses: {
        204: { description: 'The person is deactivated, and the directory no longer manages them.' },
      },
      handle: (request) =>
        noted(scim, request.exchange, async () => {
          await scim.users.delete(placeOf(request))
          request.reply.removeHeader('content-type').code(204).send()
        }),
    }),
  ]
}
