import { Type, type Static } from 'typebox'
import type { Account, Accounts } from '../../../modules/accounts/accounts.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Keys, OwnedKey } from '../../../modules/keys/keys.ts'
import { described } from '../../../wires/described.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName, UuidId } from '../../../wires/usual-members.ts'
import { inAccount } from '../../access.ts'
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

const KEY_SECONDS_MAX = 10 * 366 * 24 * 60 * 60
const SECOND_MS = 1000

const members = {
  object: objectName('organization.admin_api_key'),
  id: UuidId,
  name: Type.String({ description: 'The name that people gave it.' }),
  redacted_value: Type.String({ description: 'The beginning of the key, to recognise it by.' }),
  created_at: Type.Integer({ description: 'In seconds.' }),
  expires_at: orNull(Type.Integer(), 'In seconds. Null for never.'),
  last_used_at: orNull(Type.Integer(), 'In seconds, exact to the minute.'),
  owner: Type.Object(
    {
      type: Type.Enum(['user', 'organization'], { description: 'A person, or the account itself.' }),
      object: Type.Enum(['organization.user', 'organization'], { description: 'The kind of the owner.' }),
      id: Id,
      name: orNull(Type.String(), 'The name of the owner.'),
      created_at: Type.Integer({ description: 'In seconds.' }),
      role: Type.String({ description: 'The role in the account.' }),
    },
    { description: 'Whose key it is.' },
  ),
}
const AdminKeyAnswer = Type.Object(members, { title: 'AdminApiKey' })
const CreatedAnswer = Type.Object(
  { ...members, value: Type.String({ description: 'The key itself. It is shown only here.' }) },
  { title: 'CreatedAdminApiKey' },
)

const CreateBody = Type.Object(
  {
    name: described(Name, 'A name for people, without control characters.'),
    expires_in_seconds: nullable(
      Type.Integer({ minimum: 1, maximum: KEY_SECONDS_MAX }),
      'After how many seconds the key stops working. Otherwise never, or with the key that asks.',
    ),
  },
  { additionalProperties: false, examples: [{ name: 'Provisioning' }] },
)

const KeysQuery = Type.Object({
  ...OrganizationListQuery.properties,
  order: Type.Optional(
    Type.Enum(['asc', 'desc'], { description: 'By creation. The oldest first unless told.' }),
  ),
})

const KeyParams = Type.Object({
  key_id: Type.String({ maxLength: 100, description: 'The id of a key, not the key.' }),
})

const AT = '/v1/organization/admin_api_keys'
const shared = { tag: 'Organization' } as const

interface AdminKeyParts {
  readonly keys: Keys
  readonly accounts: Pick<Accounts, 'read'>
  readonly clock: Clock
}

/** Admin keys are the keys of the account, not of a project, that have the scope `manage`. */
export const adminApiKeyRoutes = ({ keys, accounts, clock }: AdminKeyParts): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: AT,
    access: inAccount('organization.read'),
    summary: 'List admin API keys',
    query: KeysQuery,
    responses: {
      200: {
        description: 'The keys that manage the account and are not revoked.',
        schema: organizationList('AdminApiKeyList', AdminKeyAnswer),
      },
    },
    handle: async ({ caller, query }) => {
      const account = await accounts.read(caller.accountId)
      const page = { ...readPage('project', query), order: query.order ?? 'asc' }
      return listOf(await keys.listAdmin(account.id, page), (key) => keyToWire(key, account))
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: AT,
    access: inAccount('keys.manage'),
    summary: 'Create an admin API key',
    body: CreateBody,
    responses: { 200: { description: 'The key, shown this once.', schema: CreatedAnswer } },
    handle: async ({ caller, body }) => {
      const account = await accounts.read(caller.accountId)
      const seconds = body.expires_in_seconds ?? null
      const { record, token } = await keys.create(caller, account.id, {
        name: body.name,
        scopes: ['manage'],
        ...(seconds !== null && { expiresAtMs: clock.nowMs() + seconds * SECOND_MS }),
      })
      return { ...keyToWire(await keys.readAdmin(account.id, record.id), account), value: token }
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${AT}/:key_id`,
    access: inAccount('organization.read'),
    summary: 'Read an admin API key',
    params: KeyParams,
    responses: { 200: { description: 'The key, without its secret.', schema: AdminKeyAnswer } },
    handle: async ({ caller, params }) => {
      const account = await accounts.read(caller.accountId)
      return keyToWire(await keys.readAdmin(account.id, params.key_id), account)
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: `${AT}/:key_id`,
    access: inAccount('keys.manage'),
    summary: 'Delete an admin API key',
    params: KeyParams,
    responses: {
      200: {
        description: 'Every process refuses the key from now on.',
        schema: deletedAnswer('organization.admin_api_key.deleted'),
      },
    },
    handle: async ({ caller, params }) => {
      const { accountId } = caller
      const { id } = await keys.readAdmin(accountId, params.key_id)
      await keys.revoke(caller, accountId, id)
      return { object: 'organization.admin_api_key.deleted', id, deleted: true }
    },
  }),
]

function keyToWire(key: OwnedKey, account: Account): Static<typeof AdminKeyAnswer> {
  return {
    object: 'organization.admin_api_key',
    id: key.id,
    name: key.name,
    redacted_value: key.keyPrefix,
    created_at: unixSeconds(key.createdAtMs),
    expires_at: key.expiresAtMs === null ? null : unixSeconds(key.expiresAtMs),
    last_used_at: key.lastUsedAtMs === null ? null : unixSeconds(key.lastUsedAtMs),
    owner: ownerToWire(key, account),
  }
}

function ownerToWire({ owner }: OwnedKey, account: Account): Static<typeof AdminKeyAnswer>['owner'] {
  if (owner === null) {
    return {
      type: 'organization',
      object: 'organization',
      id: wireId('organization', account.id),
      name: account.name,
      created_at: unixSeconds(account.createdAtMs),
      role: 'owner',
    }
  }
  return {
    type: 'user',
    object: 'organization.user',
    id: wireId('user', owner.id),
    name: owner.name,
    created_at: unixSeconds(owner.createdAtMs),
    role: owner.role,
  }
}
