import { Type, type Static } from 'typebox'
import { SCOPES, type KeyRecord } from '../../../modules/keys/keys.ts'
import {
  SERVICE_ACCOUNT_ROLES,
  type Projects,
  type ServiceAccount,
} from '../../../modules/projects/projects.ts'
import { described } from '../../../wires/described.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName, UuidId } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { Name } from '../account/api-key-wire.ts'
import {
  deletedAnswer,
  listOf,
  organizationList,
  OrganizationListQuery,
  readPage,
  unixSeconds,
} from './organization-list.ts'
import { ownProject, pathId, ProjectParams } from './own-project.ts'

const KEY_SECONDS_MAX = 10 * 366 * 24 * 60 * 60

const members = {
  object: objectName('organization.project.service_account'),
  id: Id,
  name: Type.String({ description: 'The name that people gave it.' }),
  role: Type.String({ description: '`owner` manages the project, `member` uses models.' }),
  created_at: Type.Integer({ description: 'In seconds.' }),
}
const ServiceAccountAnswer = Type.Object(members, { title: 'ServiceAccount' })

const KeyAnswer = Type.Object(
  {
    object: objectName('organization.project.service_account.api_key'),
    id: UuidId,
    name: Type.String({ description: 'The name of the key.' }),
    value: Type.String({ description: 'The key itself. It is shown only here.' }),
    created_at: Type.Integer({ description: 'In seconds.' }),
    expires_at: orNull(Type.Integer(), 'In seconds. Null for never.'),
  },
  { title: 'ServiceAccountKey' },
)

const CreatedAnswer = Type.Object(
  { ...members, api_key: orNull(KeyAnswer, 'Its first key, unless only the service account was asked for.') },
  { title: 'CreatedServiceAccount' },
)

const ExpiresIn = nullable(
  Type.Integer({ minimum: 1, maximum: KEY_SECONDS_MAX }),
  'After how many seconds the key stops working. Null for never.',
)
const AccountName = described(Name, 'A name for people, without control characters.')
const CLOSED = { additionalProperties: false }

const CreateBody = Type.Object(
  {
    name: AccountName,
    create_service_account_only: nullable(Type.Boolean(), 'Makes no key.'),
    expires_in_seconds: ExpiresIn,
  },
  { ...CLOSED, examples: [{ name: 'Pipeline' }] },
)
const ChangeBody = Type.Object(
  {
    name: Type.Optional(AccountName),
    role: Type.Optional(Type.Enum([...SERVICE_ACCOUNT_ROLES], { description: 'The new role.' })),
  },
  { ...CLOSED, examples: [{ name: 'Nightly pipeline', role: 'owner' }] },
)
const KeyBody = Type.Object(
  {
    name: Type.Optional(AccountName),
    scopes: Type.Optional(
      Type.Array(Type.Enum([...SCOPES]), {
        minItems: 1,
        maxItems: SCOPES.length,
        description: '`inference` unless told. The role of the service account bounds them.',
      }),
    ),
    expires_in_seconds: ExpiresIn,
  },
  { ...CLOSED, examples: [{ name: 'Second key' }] },
)

const ServiceAccountParams = Type.Object({
  ...ProjectParams.properties,
  service_account_id: Type.String({
    maxLength: 100,
    description: 'The id of a service account: `svc_acct_…`.',
  }),
})

const shared = { tag: 'Organization' } as const
const AT = '/v1/organization/projects/:project_id/service_accounts'

export const projectServiceAccountRoutes = ({
  projects: { serviceAccounts },
}: {
  projects: Projects
}): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: AT,
    access: inProject('organization.read'),
    summary: 'List service accounts',
    params: ProjectParams,
    query: OrganizationListQuery,
    responses: {
      200: {
        description: 'The service accounts of the project, newest first.',
        schema: organizationList('ServiceAccountList', ServiceAccountAnswer),
      },
    },
    handle: async ({ caller, params, query }) => {
      const projectId = ownProject(caller, params.project_id)
      return listOf(
        await serviceAccounts.list(caller.accountId, projectId, readPage('serviceAccount', query)),
        toWire,
      )
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: AT,
    access: inProject('keys.manage'),
    summary: 'Create a service account',
    params: ProjectParams,
    body: CreateBody,
    responses: { 200: { description: 'It and its key, shown this once.', schema: CreatedAnswer } },
    handle: async ({ caller, params, body }) => {
      const place = { caller, projectId: ownProject(caller, params.project_id) }
      const order =
        body.create_service_account_only === true
          ? null
          : { name: body.name, expiresInSeconds: body.expires_in_seconds ?? null }
      const { account, key } = await serviceAccounts.create(place, body.name, order)
      return { ...toWire(account), api_key: key === null ? null : keyToWire(key) }
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${AT}/:service_account_id`,
    access: inProject('organization.read'),
    summary: 'Read a service account',
    params: ServiceAccountParams,
    responses: { 200: { description: 'The service account.', schema: ServiceAccountAnswer } },
    handle: async ({ caller, params }) => {
      const projectId = ownProject(caller, params.project_id)
      const id = pathId('serviceAccount', params.service_account_id)
      return toWire(await serviceAccounts.read(caller.accountId, projectId, id))
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${AT}/:service_account_id`,
    access: inProject('keys.manage'),
    summary: 'Change a service account',
    params: ServiceAccountParams,
    body: ChangeBody,
    responses: { 200: { description: 'The service account as it now is.', schema: ServiceAccountAnswer } },
    handle: async ({ caller, params, body }) => {
      const place = { caller, projectId: ownProject(caller, params.project_id) }
      return toWire(
        await serviceAccounts.change(place, pathId('serviceAccount', params.service_account_id), body),
      )
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: `${AT}/:service_account_id`,
    access: inProject('keys.manage'),
    summary: 'Delete a service account',
    params: ServiceAccountParams,
    responses: {
      200: {
        description: 'Every process refuses its keys from now on.',
        schema: deletedAnswer('organization.project.service_account.deleted'),
      },
    },
    handle: async ({ caller, params }) => {
      const id = pathId('serviceAccount', params.service_account_id)
      await serviceAccounts.delete({ caller, projectId: ownProject(caller, params.project_id) }, id)
      return {
        object: 'organization.project.service_account.deleted',
        id: wireId('serviceAccount', id),
        deleted: true,
      }
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${AT}/:service_account_id/api_keys`,
    access: inProject('keys.manage'),
    summary: 'Create a further key of a service account',
    params: ServiceAccountParams,
    body: KeyBody,
    responses: { 200: { description: 'The key, shown this once.', schema: KeyAnswer } },
    handle: async ({ caller, params, body }) => {
      const place = { caller, projectId: ownProject(caller, params.project_id) }
      const id = pathId('serviceAccount', params.service_account_id)
      const { name = 'API key', scopes, expires_in_seconds: expiresInSeconds = null } = body
      const order = { name, expiresInSeconds, ...(scopes !== undefined && { scopes }) }
      return keyToWire(await serviceAccounts.createKey(place, id, order))
    },
  }),
]

function toWire(account: ServiceAccount): Static<typeof ServiceAccountAnswer> {
  return {
    object: 'organization.project.service_account',
    id: wireId('serviceAccount', account.id),
    name: account.name,
    role: account.role,
    created_at: unixSeconds(account.createdAtMs),
  }
}

function keyToWire({ record, token }: { record: KeyRecord; token: string }): Static<typeof KeyAnswer> {
  return {
    object: 'organization.project.service_account.api_key',
    id: record.id,
    name: record.name,
    value: token,
    created_at: unixSeconds(record.createdAtMs),
    expires_at: record.expiresAtMs === null ? null : unixSeconds(record.expiresAtMs),
  }
}
