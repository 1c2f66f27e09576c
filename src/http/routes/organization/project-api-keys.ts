import { Type, type Static } from 'typebox'
import type { Keys, OwnedKey } from '../../../modules/keys/keys.ts'
import type { Projects } from '../../../modules/projects/projects.ts'
import { orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName, UuidId } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  deletedAnswer,
  listOf,
  organizationList,
  OrganizationListQuery,
  readPage,
  unixSeconds,
} from './organization-list.ts'
import { ownProject, ProjectParams } from './own-project.ts'

const ownerMembers = {
  id: Id,
  name: orNull(Type.String(), 'The name of the owner.'),
  created_at: Type.Integer({ description: 'In seconds.' }),
  role: Type.String({
    description: 'The role in the project, or in the account if the owner is in no project.',
  }),
}

const KeyAnswer = Type.Object(
  {
    object: objectName('organization.project.api_key'),
    id: UuidId,
    name: Type.String({ description: 'The name that people gave it.' }),
    redacted_value: Type.String({ description: 'The beginning of the key, to recognise it by.' }),
    created_at: Type.Integer({ description: 'In seconds.' }),
    last_used_at: orNull(Type.Integer(), 'In seconds, exact to the minute.'),
    expires_at: orNull(Type.Integer(), 'In seconds. Null for never.'),
    owner_project_access: Type.Enum(['active', 'inactive'], {
      description: 'Inactive: the owner is deactivated, or the project is archived. The key is refused.',
    }),
    owner: Type.Object(
      {
        type: Type.Optional(
          Type.Enum(['user', 'service_account'], { description: 'The kind of the owner.' }),
        ),
        user: Type.Optional(
          Type.Object(
            { ...ownerMembers, email: Type.String({ description: 'The e-mail address.' }) },
            { description: 'The person it belongs to.' },
          ),
        ),
        service_account: Type.Optional(
          Type.Object(ownerMembers, { description: 'The service account it belongs to.' }),
        ),
      },
      { description: 'Empty for a key that belongs to the account.' },
    ),
  },
  { title: 'ProjectApiKey' },
)

const KeyParams = Type.Object({
  ...ProjectParams.properties,
  api_key_id: Type.String({ maxLength: 100, description: 'The id of a key, not the key.' }),
})

const KeysQuery = Type.Object({
  ...OrganizationListQuery.properties,
  owner_project_access: Type.Optional(
    Type.Enum(['active', 'inactive', 'any'], {
      description: 'Only keys whose owners have access unless told.',
    }),
  ),
})

const shared = { tag: 'Organization' } as const

export const projectApiKeyRoutes = ({ projects, keys }: { projects: Projects; keys: Keys }): Route[] => {
  const placeOf = async (
    caller: Parameters<typeof ownProject>[0],
    named: string,
  ): Promise<{ accountId: string; projectId: string }> => {
    const { accountId } = caller
    const { id } = await projects.read(accountId, ownProject(caller, named))
    return { accountId, projectId: id }
  }
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/organization/projects/:project_id/api_keys',
      access: inProject('organization.read'),
      summary: 'List the API keys of a project',
      params: ProjectParams,
      query: KeysQuery,
      responses: {
        200: {
          description: 'The keys of the project that are not revoked, newest first.',
          schema: organizationList('ProjectApiKeyList', KeyAnswer),
        },
      },
      handle: async ({ caller, params, query }) => {
        const place = await placeOf(caller, params.project_id)
        const page = readPage('project', query)
        return listOf(
          await keys.listOfProject(place, page, query.owner_project_access ?? 'active'),
          keyToWire,
        )
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/organization/projects/:project_id/api_keys/:api_key_id',
      access: inProject('organization.read'),
      summary: 'Read an API key of a project',
      params: KeyParams,
      responses: { 200: { description: 'The key.', schema: KeyAnswer } },
      handle: async ({ caller, params }) => {
        const place = await placeOf(caller, params.project_id)
        return keyToWire(await keys.readOfProject(place, params.api_key_id))
      },
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/v1/organization/projects/:project_id/api_keys/:api_key_id',
      access: inProject('keys.manage'),
      summary: 'Delete an API key of a project',
      params: KeyParams,
      responses: {
        200: {
          description: 'Every process refuses the key from now on.',
          schema: deletedAnswer('organization.project.api_key.deleted'),
        },
      },
      handle: async ({ caller, params }) => {
        const place = await placeOf(caller, params.project_id)
        const { id } = await keys.readOfProject(place, params.api_key_id)
        await keys.revoke(caller, place.accountId, id)
        return { object: 'organization.project.api_key.deleted', id, deleted: true }
      },
    }),
  ]
}

function keyToWire(key: OwnedKey): Static<typeof KeyAnswer> {
  return {
    object: 'organization.project.api_key',
    id: key.id,
    name: key.name,
    redacted_value: key.keyPrefix,
    created_at: unixSeconds(key.createdAtMs),
    last_used_at: key.lastUsedAtMs === null ? null : unixSeconds(key.lastUsedAtMs),
    expires_at: key.expiresAtMs === null ? null : unixSeconds(key.expiresAtMs),
    owner_project_access: key.isEnded ? 'inactive' : 'active',
    owner: ownerToWire(key),
  }
}

function ownerToWire({ owner }: OwnedKey): Static<typeof KeyAnswer>['owner'] {
  if (owner === null) return {}
  const { name, role, email } = owner
  const created = { name, role, created_at: unixSeconds(owner.createdAtMs) }
  return owner.kind === 'user'
    ? { type: 'user', user: { id: wireId('user', owner.id), email: email ?? '', ...created } }
    : { type: 'service_account', service_account: { id: wireId('serviceAccount', owner.id), ...created } }
}
