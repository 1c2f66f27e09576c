import { Type } from 'typebox'
import type { Passkeys } from '../../../modules/passkeys/passkeys.ts'
import { ANY_KEY } from '../../access.ts'
import { listSchema, wholeList } from '../../answers/list-page.ts'
import { requireRelyingParty } from '../../relying-party.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  CreationOptions,
  NEW_CREDENTIAL_EXAMPLE,
  NewCredentialBody,
  PASSKEY_BYTES_MAX,
  PasskeyAnswer,
  PasskeyName,
  passkeyToWire,
} from './passkey-wire.ts'

interface PasskeyRouteOptions {
  readonly passkeys: Passkeys
  readonly publicUrl: string | null
}

const RegisterBody = Type.Object(
  { name: PasskeyName, credential: NewCredentialBody },
  { additionalProperties: false, examples: [{ name: 'Laptop', credential: NEW_CREDENTIAL_EXAMPLE }] },
)
const RenameBody = Type.Object(
  { name: PasskeyName },
  { additionalProperties: false, examples: [{ name: 'Laptop' }] },
)
const PasskeyParams = Type.Object({
  id: Type.String({ maxLength: 100, description: 'The id of a passkey.' }),
})
const RemoveQuery = Type.Object({
  even_if_last: Type.Optional(
    Type.Boolean({ description: 'Whether to remove it although the person could not sign in again alone.' }),
  ),
})

const shared = { tag: 'Sessions', access: ANY_KEY } as const

/** The passkeys of the person of the session, in this account. */
export const passkeyRoutes = ({ passkeys, publicUrl }: PasskeyRouteOptions): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/passkeys',
    summary: 'List own passkeys',
    responses: {
      200: { description: 'The passkeys, the oldest first.', schema: listSchema('passkeys', PasskeyAnswer) },
    },
    handle: async ({ caller }) => wholeList('passkeys', (await passkeys.list(caller)).map(passkeyToWire)),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/passkeys/options',
    summary: 'Begin to add a passkey',
    needsConfirmation: true,
    otherErrors: [404],
    responses: { 200: { description: 'What the browser makes the passkey from.', schema: CreationOptions } },
    handle: async ({ caller, headers }) => ({
      object: 'passkey.creation',
      public_key: await passkeys.startRegistration(caller, requireRelyingParty(headers, publicUrl)),
    }),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/passkeys',
    summary: 'Add a passkey',
    needsConfirmation: true,
    body: RegisterBody,
    bodyLimitBytes: PASSKEY_BYTES_MAX,
    otherErrors: [404, 409],
    responses: { 201: { description: 'The passkey. It signs in from now on.', schema: PasskeyAnswer } },
    handle: async ({ caller, headers, body, reply }) => {
      const added = await passkeys.register(caller, body, requireRelyingParty(headers, publicUrl))
      reply.code(201)
      return passkeyToWire(added)
    },
  }),
  defineRoute({
    ...shared,
    method: 'PATCH',
    path: '/v1/passkeys/:id',
    summary: 'Rename a passkey',
    params: PasskeyParams,
    body: RenameBody,
    responses: { 200: { description: 'The passkey with its new name.', schema: PasskeyAnswer } },
    handle: async ({ caller, params, body }) =>
      passkeyToWire(await passkeys.rename(caller, params.id, body.name)),
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/v1/passkeys/:id',
    summary: 'Remove a passkey',
    needsConfirmation: true,
    params: PasskeyParams,
    query: RemoveQuery,
    otherErrors: [409],
    responses: { 200: { description: 'The passkey that was removed.', schema: PasskeyAnswer } },
    handle: async ({ caller, params, query }) =>
      passkeyToWire(await passkeys.remove(caller, params.id, { evenIfLast: query.even_if_last === true })),
  }),
]
