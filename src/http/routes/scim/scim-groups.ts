import { Type } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import {
  readGroupPatch,
  readGroupResource,
  readPatch,
  requireVersion,
  type ScimGroup,
} from '../../../modules/scim/scim.ts'
import { Id } from '../../../wires/usual-members.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import { scimList, scimListOf } from './scim-list.ts'
import {
  directoryOf,
  isWanted,
  noted,
  readScimPage,
  scimAnswer,
  scimBaseUrl,
  ScimListQuery,
  scimRoute,
  selectAttributes,
  SelectionQuery,
  type Resource,
  type ScimRouteOptions,
} from './scim-route.ts'
import { PatchBody } from './scim-users.ts'
import { Meta, Schemas, versionOf } from './scim-user-wire.ts'

const AT = '/scim/v2/Groups'
export const GROUP_URN = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const MEMBER = '2819c223-7f76-453a-919d-413861904646'

const GroupAnswer = Type.Object(
  {
    schemas: Schemas,
    id: Id,
    displayName: Type.Optional(
      Type.String({ description: 'The name of the group, here and in the directory.' }),
    ),
    externalId: Type.Optional(Type.String({ description: 'The id of the group in the directory.' })),
    members: Type.Optional(
      Type.Array(
        Type.Object({
          value: Type.String({ description: 'The id of the person in SCIM.' }),
          display: Type.String({ description: 'What the person is called.' }),
          type: Type.Literal('User', { description: 'Always `User`: a group contains no groups.' }),
        }),
        { description: 'The people whom the directory put into the group.' },
      ),
    ),
    meta: Type.Optional(Meta),
  },
  { title: 'ScimGroup' },
)

const GroupBody = Type.Object(
  {
    schemas: Type.Optional(Type.Unknown({ description: 'The URNs of the schemas. Not checked.' })),
    displayName: Type.Optional(Type.Unknown({ description: 'The name of the group. Needed.' })),
    externalId: Type.Optional(Type.Unknown({ description: 'The id of the group in the directory.' })),
    members: Type.Optional(
      Type.Unknown({ description: 'Everybody in the group, as `[{"value": "<id>"}]`.' }),
    ),
  },
  { examples: [{ schemas: [GROUP_URN], displayName: 'Engineering', externalId: '9f8e7d', members: [] }] },
)

const GroupParams = Type.Object({
  id: Type.String({ maxLength: 100, description: 'The id of a group in SCIM.', examples: [MEMBER] }),
})

type Asked = Pick<RouteRequest<unknown, unknown, { id: string }>, 'exchange' | 'params' | 'headers'>

export const scimGroupRoutes = (options: ScimRouteOptions): Route[] => {
  const { scim, publicUrl } = options
  const shared = scimRoute(options)
  const placeOf = ({ exchange, params, headers }: Asked) => ({
    directory: directoryOf(exchange),
    id: params.id,
    version: requireVersion(headers['if-match']?.toString()),
  })
  const wantedOf = (query: Parameters<typeof isWanted>[1]) => ({ withMembers: isWanted('members', query) })
  const answer = (
    request: Pick<RouteRequest<unknown, unknown, unknown>, 'headers' | 'reply'>,
    group: ScimGroup,
  ) => {
    request.reply.header('etag', versionOf(group))
    return groupToWire(group, scimBaseUrl(request, publicUrl))
  }
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: AT,
      summary: 'List groups of a directory',
      query: ScimListQuery,
      responses: {
        200: scimAnswer('The groups that the directory manages.', scimList('ScimGroupList', GroupAnswer)),
      },
      handle: async (request) => {
        const { exchange, query } = request
        const baseUrl = scimBaseUrl(request, publicUrl)
        const page = await scim.groups.list(
          directoryOf(exchange).accountId,
          readScimPage(query),
          wantedOf(query),
        )
        return scimListOf(page, (group) => selectAttributes(groupToWire(group, baseUrl), query))
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: AT,
      summary: 'Create a group of a directory',
      query: SelectionQuery,
      body: GroupBody,
      responses: { 201: scimAnswer('The group with its members.', GroupAnswer) },
      handle: (request) =>
        noted(scim, request.exchange, async () => {
          const group = await scim.groups.create(
            directoryOf(request.exchange),
            readGroupResource(request.body),
          )
          const resource = answer(request, group)
          request.reply.code(201).header('location', `${scimBaseUrl(request, publicUrl)}/Groups/${group.id}`)
          return selectAttributes(resource, request.query)
        }),
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${AT}/:id`,
      summary: 'Read a group of a directory',
      params: GroupParams,
      query: SelectionQuery,
      responses: { 200: scimAnswer('The group.', GroupAnswer) },
      handle: async (request) => {
        const { exchange, params, query } = request
        const group = await scim.groups.read(directoryOf(exchange).accountId, params.id, wantedOf(query))
        return selectAttributes(answer(request, group), query)
      },
    }),
    defineRoute({
      ...shared,
      method: 'PUT',
      path: `${AT}/:id`,
      summary: 'Replace a group of a directory',
      params: GroupParams,
      query: SelectionQuery,
      body: GroupBody,
      otherErrors: [412],
      responses: { 200: scimAnswer('The group.', GroupAnswer) },
      handle: (request) =>
        noted(scim, request.exchange, async () => {
          const { query, body } = request
          const group = await scim.groups.replace(placeOf(request), readGroupResource(body), wantedOf(query))
          return selectAttributes(answer(request, group), query)
        }),
    }),
    defineRoute({
      ...shared,
      method: 'PATCH',
      path: `${AT}/:id`,
      summary: 'Change a group of a directory',
      params: GroupParams,
      query: SelectionQuery,
      body: PatchBody,
      otherErrors: [412],
      responses: {
        200: scimAnswer('The group, if `attributes` names what to return.', GroupAnswer),
        204: {
          description: 'The group has changed. Its members are not sent back, because they may be thousands.',
        },
      },
      handle: (request) =>
        noted(scim, request.exchange, async () => {
          const { query, body, reply } = request
          const isAsked = query.attributes !== undefined
          const wanted = isAsked ? wantedOf(query) : { withMembers: false }
          const group = await scim.groups.patch(placeOf(request), readGroupPatch(readPatch(body)), wanted)
          const resource = answer(request, group)
          if (isAsked) return selectAttributes(resource, query)
          reply.removeHeader('content-type').code(204).send()
          return undefined
        }),
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: `${AT}/:id`,
      summary: 'Delete a group of a directory',
      params: GroupParams,
      otherErrors: [412],
      responses: {
        204: { description: 'The group is gone, and its members have lost what they had by it.' },
      },
      handle: (request) =>
        noted(scim, request.exchange, async () => {
          await scim.groups.delete(placeOf(request))
          request.reply.removeHeader('content-type').code(204).send()
        }),
    }),
  ]
}

function groupToWire(group: ScimGroup, baseUrl: string): Resource {
  return {
    schemas: [GROUP_URN],
    id: group.id,
    ...(group.externalId !== null && { externalId: group.externalId }),
    displayName: group.displayName,
    ...(group.members !== null && {
      members: group.members.map(({ id, display }) => ({
        value: id,
        display,
        type: 'User',
      })),
    }),
    meta: {
      resourceType: 'Group',
      created: toTimestamp(group.createdAtMs),
      lastModified: toTimestamp(group.updatedAtMs),
      location: `${baseUrl}/Groups/${group.id}`,
      version: versionOf(group),
    },
  }
}
