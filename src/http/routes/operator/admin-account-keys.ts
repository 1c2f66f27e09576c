import { Type } from 'typebox'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Keys } from '../../../modules/keys/keys.ts'
import type { Usage } from '../../../modules/usage/usage.ts'
import { ListQuery, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { pickMembers } from '../../parameters/pick-members.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  createKeyWire,
  KeyAnswer,
  KeyCreateBody,
  KeyCreatedAnswer,
  KeyRevokedAnswer,
  KeyUpdateBody,
  parseKeyChanges,
  parseKeyRequest,
} from '../account/api-key-wire.ts'

const AccountParams = Type.Object({ id: Type.String({ description: 'The id of an account.' }) })
const AccountKeyParams = Type.Object({
  id: Type.String({ description: 'The id of an account.' }),
  key_id: Type.String({ description: 'The id of the API key.' }),
})

interface AdminAccountKeyModules {
  readonly accounts: Accounts
  readonly keys: Keys
  readonly usage: Usage
  readonly audit: Audit
}

const shared = { tag: 'Operator' } as const

/** The keys of any account, for operators. */
export const adminAccountKeyRoutes = (modules: AdminAccountKeyModules): Route[] => {
  const { accounts, keys, audit } = modules
  const wire = createKeyWire(modules)

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/admin/accounts/:id/api-keys',
      access: ofGateway('gateway.read'),
      summary: 'List the API keys of an account',
      params: AccountParams,
      query: ListQuery,
      responses: {
        200: { description: 'The keys of the account, newest first.', schema: listSchema('keys', KeyAnswer) },
      },
      handle: async ({ params, query }) => {
        const { id: accountId } = await accounts.read(params.id)
        return wire.list(await keys.list(accountId, parsePageRequest(query)))
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/admin/accounts/:id/api-keys',
      access: ofGateway('gateway.manage'),
      summary: 'Create an API key for an account',
      params: AccountParams,
      body: KeyCreateBody,
      responses: { 201: { description: 'The key, shown this once.', schema: KeyCreatedAnswer } },
      handle: async ({ caller, params, body, reply }) => {
        const { id: accountId } = await accounts.read(params.id)
        const request = parseKeyRequest(body)
        const { environment = caller.environment, name, scopes = 'default' } = request
        const { record, token } = await audit.run(
          {
            actor: caller,
            action: 'api_key.create',
            target: { kind: 'api_key', id: null },
            details: { account_id: accountId, name, env: environment, scopes },
          },
          async () => {
            const issued = await keys.create(caller, accountId, request)
            return { ...issued, id: issued.record.id }
          },
        )
        reply.code(201)
        return { ...wire.fresh(record), key: token }
      },
    }),
    defineRoute({
      ...shared,
      method: 'PATCH',
      path: '/v1/admin/accounts/:id/api-keys/:key_id',
      access: ofGateway('gateway.manage'),
      summary: 'Update an API key of an account',
      params: AccountKeyParams,
      body: KeyUpdateBody,
      responses: { 200: { description: 'The key as it now is, on every process.', schema: KeyAnswer } },
      handle: async ({ caller, params, body }) => {
        const changes = parseKeyChanges(body)
        const record = await audit.run(
          {
            actor: caller,
            action: 'api_key.update',
            target: { kind: 'api_key', id: params.key_id },
            details: { account_id: params.id, ...body },
            readState: async () =>
              pickMembers(await wire.one(await keys.read(params.id, params.key_id)), Object.keys(body)),
          },
          () => keys.update(caller, params.id, params.key_id, changes),
        )
        return wire.one(record)
      },
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/v1/admin/accounts/:id/api-keys/:key_id',
      access: ofGateway('gateway.manage'),
      summary: 'Revoke an API key of an account',
      params: AccountKeyParams,
      responses: {
        200: { description: 'Every process refuses the key from now on.', schema: KeyRevokedAnswer },
      },
      handle: async ({ caller, params }) => {
        const { id } = await audit.run(
          {
            actor: caller,
            action: 'api_key.revoke',
            target: { kind: 'api_key', id: params.key_id },
            details: { account_id: params.id },
          },
          () => keys.revoke(caller, params.id, params.key_id),
        )
        return { revoked: true, id }
      },
    }),
  ]
}
