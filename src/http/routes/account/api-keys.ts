import { Type } from 'typebox'
import type { Keys } from '../../../modules/keys/keys.ts'
import type { Usage } from '../../../modules/usage/usage.ts'
import { ListQuery, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { ANY_KEY, inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  createKeyWire,
  KeyAnswer,
  KeyCreateBody,
  KeyCreatedAnswer,
  KeyRevokedAnswer,
  KeyRotateBody,
  KeyUpdateBody,
  parseKeyChanges,
  parseOverlap,
  parseKeyRequest,
} from './api-key-wire.ts'

const KeyParams = Type.Object({ id: Type.String({ description: 'The id of a key, not the key.' }) })

export const apiKeyRoutes = (modules: { keys: Keys; usage: Usage }): Route[] => {
  const { keys } = modules
  const wire = createKeyWire(modules)
  const shared = { tag: 'API keys' } as const

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/tenants/me/api-keys',
      access: ANY_KEY,
      summary: 'List API keys',
      query: ListQuery,
      responses: {
        200: {
          description: 'The keys of the account, newest first. A key without the scope `manage` sees itself.',
          schema: listSchema('keys', KeyAnswer),
        },
      },
      handle: async ({ caller, query }) => wire.list(await keys.listFor(caller, parsePageRequest(query))),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/tenants/me/api-keys',
      access: inProject('keys.own'),
      summary: 'Create an API key',
      body: KeyCreateBody,
      otherErrors: [404],
      responses: { 201: { description: 'The key, shown this once.', schema: KeyCreatedAnswer } },
      handle: async ({ caller, body, reply }) => {
        const { record, token } = await keys.create(caller, caller.accountId, parseKeyRequest(body))
        reply.code(201)
        return { ...wire.fresh(record), key: token }
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/tenants/me/api-keys/:id',
      access: ANY_KEY,
      summary: 'Read an API key',
      params: KeyParams,
      responses: { 200: { description: 'The key.', schema: KeyAnswer } },
      handle: async ({ caller, params }) => wire.one(await keys.readFor(caller, params.id)),
    }),
    defineRoute({
      ...shared,
      method: 'PATCH',
      path: '/v1/tenants/me/api-keys/:id',
      access: inProject('keys.own'),
      summary: 'Update an API key',
      params: KeyParams,
      body: KeyUpdateBody,
      responses: { 200: { description: 'The key as it now is, on every process.', schema: KeyAnswer } },
      handle: async ({ caller, params, body }) =>
        wire.one(await keys.update(caller, caller.accountId, params.id, parseKeyChanges(body))),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/tenants/me/api-keys/:id/rotate',
      access: inProject('keys.own'),
      summary: 'Rotate an API key',
      // Otherwise a stolen session would get a secret with which it confirms itself.
      needsConfirmation: true,
      params: KeyParams,
      body: KeyRotateBody,
      otherErrors: [409],
      responses: {
        200: { description: 'The key with its new secret, shown this once.', schema: KeyCreatedAnswer },
      },
      handle: async ({ caller, params, body }) => {
        const rotation = {
          keyId: params.id,
          overlapMs: parseOverlap(body),
          endsFormer: body.end_former === true,
        }
        const { record, token } = await keys.rotate(caller, caller.accountId, rotation)
        return { ...(await wire.one(record)), key: token }
      },
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/v1/tenants/me/api-keys/:id',
      access: inProject('keys.own'),
      summary: 'Revoke an API key',
      params: KeyParams,
      responses: {
        200: { description: 'Every process refuses the key from now on.', schema: KeyRevokedAnswer },
      },
      handle: async ({ caller, params }) => {
        const { id } = await keys.revoke(caller, caller.accountId, params.id)
        return { revoked: true, id }
      },
    }),
  ]
}
