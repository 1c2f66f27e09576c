import { Type } from 'typebox'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Keys } from '../../../modules/keys/keys.ts'
import type { Usage } from '../../../modules/usage/usage.ts'
import { listAnswer, ListQuery, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { parseUsd } from '../../parameters/parse-usd.ts'
import { pickMembers } from '../../parameters/pick-members.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  AccountAnswer,
  AccountCreateBody,
  accountToWire,
  AccountUpdateBody,
  SuspendBody,
} from './admin-account-wire.ts'
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

const AccountsQuery = Type.Object({
  ...ListQuery.properties,
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Part of the name, the id of an account, or the visible beginning of one of its keys.',
    }),
  ),
  status: Type.Optional(Type.Enum(['active', 'suspended'], { description: 'Only accounts of this status.' })),
})

interface AdminAccountModules {
  readonly accounts: Accounts
  readonly keys: Keys
  readonly usage: Usage
  readonly audit: Audit
}

export const adminAccountRoutes = (modules: AdminAccountModules): Route[] => [
  ...accountRoutes(modules),
  ...accountKeyRoutes(modules),
]

const shared = { tag: 'Operator' } as const

const accountTarget = (id: string | null) => ({ kind: 'account', id })

const accountRoutes = ({ accounts, audit }: AdminAccountModules): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/admin/accounts',
    access: ofGateway('gateway.read'),
    summary: 'List accounts',
    query: AccountsQuery,
    responses: {
      200: { description: 'The accounts, newest first.', schema: listSchema('accounts', AccountAnswer) },
    },
    handle: async ({ query }) => {
      const filter = { search: query.search ?? null, status: query.status ?? null }
      return listAnswer('accounts', await accounts.list(parsePageRequest(query), filter), accountToWire)
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/admin/accounts',
    access: ofGateway('gateway.manage'),
    summary: 'Create an account',
    body: AccountCreateBody,
    responses: { 201: { description: 'The account, without a key yet.', schema: AccountAnswer } },
    handle: async ({ caller, body, reply }) => {
      const creditNanoUsd = parseUsd('credit_usd', body.credit_usd ?? 0)
      const details = { name: body.name, credit_usd: body.credit_usd ?? 0 }
      const account = await audit.run(
        { actor: caller, action: 'account.create', target: accountTarget(null), details },
        () => accounts.create({ name: body.name, creditNanoUsd }),
      )
      reply.code(201)
      return accountToWire(account)
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/admin/accounts/:id',
    access: ofGateway('gateway.read'),
    summary: 'Read an account',
    params: AccountParams,
    responses: { 200: { description: 'The account.', schema: AccountAnswer } },
    handle: async ({ params }) => accountToWire(await accounts.read(params.id)),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/admin/accounts/:id/suspend',
    access: ofGateway('gateway.manage'),
    summary: 'Suspend an account',
    params: AccountParams,
    body: SuspendBody,
    responses: {
      200: { description: 'Every process refuses the keys of the account.', schema: AccountAnswer },
    },
    handle: async ({ caller, params, body }) =>
      accountToWire(
        await audit.run(
          {
            actor: caller,
            action: 'account.suspend',
            target: accountTarget(params.id),
            details: body,
            readState: () => readStatus(accounts, params.id),
          },
          () => accounts.suspend(caller, params.id, body.reason ?? null),
        ),
      ),
  }),
  defineRoute({
    ...shared,
    method: 'PATCH',
    path: '/v1/admin/accounts/:id',
    access: ofGateway('gateway.manage'),
    summary: 'Write a note about an account',
    params: AccountParams,
    body: AccountUpdateBody,
    responses: { 200: { description: 'The account with its note.', schema: AccountAnswer } },
    handle: async ({ caller, params, body }) =>
      accountToWire(
        await audit.run(
          {
            actor: caller,
            action: 'account.update',
            target: accountTarget(params.id),
            // A note may hold what is not meant for all who read the log.
            details: { note: body.note === null ? 'removed' : 'written' },
          },
          () => accounts.setNote(params.id, body.note),
        ),
      ),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/admin/accounts/:id/activate',
    access: ofGateway('gateway.manage'),
    summary: 'Activate a suspended account',
    params: AccountParams,
    responses: { 200: { description: 'The keys of the account work again.', schema: AccountAnswer } },
    handle: async ({ caller, params }) =>
      accountToWire(
        await audit.run(
          {
            actor: caller,
            action: 'account.activate',
            target: accountTarget(params.id),
            readState: () => readStatus(accounts, params.id),
          },
          () => accounts.activate(caller, params.id),
        ),
      ),
  }),
]

async function readStatus(accounts: Accounts, id: string) {
  const { status, suspendedReason } = await accounts.read(id)
  return { status, suspended_reason: suspendedReason }
}

const accountKeyRoutes = (modules: AdminAccountModules): Route[] => {
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
