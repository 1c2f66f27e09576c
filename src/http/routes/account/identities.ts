import { Type, type Static } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Directory, Identity } from '../../../modules/directory/directory.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import { orNull } from '../../../wires/nullable.ts'
import { CreatedAt, objectName } from '../../../wires/usual-members.ts'
import { ANY_KEY, inAccount } from '../../access.ts'
import { listSchema, wholeList } from '../../answers/list-page.ts'
import { defineRoute, type Route } from '../../route.ts'
import { pathId } from '../organization/own-project.ts'
import { UserParams } from '../organization/users.ts'

type Identities = Pick<Directory, 'listIdentities' | 'linkIdentity' | 'removeIdentity'>

const IdentityAnswer = Type.Object(
  {
    object: objectName('identity'),
    id: Type.String({ description: 'The id of the provider: a member has one identity at each.' }),
    provider: Type.String({ description: 'The name of the provider.' }),
    issuer: Type.String({ description: 'The issuer, as the provider calls itself.' }),
    is_enabled: Type.Boolean({ description: 'Whether the provider signs people in at the moment.' }),
    email: orNull(Type.String(), 'The address that the provider said last.'),
    created_at: CreatedAt,
    last_used_at: Type.String({ format: 'date-time', description: 'The last sign-in.' }),
  },
  { title: 'Identity' },
)

const LinkBody = Type.Object(
  {
    ticket: Type.String({
      minLength: 1,
      maxLength: 6000,
      description:
        'What `link` of `/profile` has after a sign-in at `GET /v1/sessions/directory/{id}/start?link=1`. It works once, in this session, for ten minutes.',
    }),
  },
  { additionalProperties: false, examples: [{ ticket: 'AbK9…' }] },
)
const Params = Type.Object({
  id: Type.String({ maxLength: 100, description: 'The id of the provider.' }),
})
const OfUserParams = Type.Object({ ...UserParams.properties, ...Params.properties })
const RemoveQuery = Type.Object({
  even_if_last: Type.Optional(
    Type.Boolean({ description: 'Whether to remove it although the person could not sign in again alone.' }),
  ),
})

const own = { tag: 'Sessions', access: ANY_KEY } as const
const ofUser = { tag: 'Organization', access: inAccount('members.manage') } as const
const listed = {
  description: 'The identities, the oldest first.',
  schema: listSchema('identities', IdentityAnswer),
}
const removed = {
  description: 'The identity that was removed. Its sessions have ended.',
  schema: IdentityAnswer,
}

/** With which accounts of identity providers a person signs in here. */
export const identityRoutes = ({ directory }: { readonly directory: Identities }): Route[] => [
  defineRoute({
    ...own,
    method: 'GET',
    path: '/v1/identities',
    summary: 'List own identities',
    responses: { 200: listed },
    handle: async ({ caller }) => {
      const person = findPerson(caller)
      const identities = person === null ? [] : await directory.listIdentities(person)
      return wholeList('identities', identities.map(identityToWire))
    },
  }),
  defineRoute({
    ...own,
    method: 'POST',
    path: '/v1/identities',
    summary: 'Link an identity',
    needsConfirmation: true,
    body: LinkBody,
    otherErrors: [404, 409],
    responses: { 201: { description: 'The identity. It signs in from now on.', schema: IdentityAnswer } },
    handle: async ({ caller, body, reply }) => {
      const linked = await directory.linkIdentity(requirePerson(caller), body.ticket)
      reply.code(201)
      return identityToWire(linked)
    },
  }),
  defineRoute({
    ...own,
    method: 'DELETE',
    path: '/v1/identities/:id',
    summary: 'Remove an identity',
    needsConfirmation: true,
    params: Params,
    query: RemoveQuery,
    otherErrors: [409],
    responses: { 200: removed },
    handle: async ({ caller, params, query }) => {
      const person = requirePerson(caller)
      return remove(directory, { caller, userId: person.userId, providerId: params.id, query })
    },
  }),
  defineRoute({
    ...ofUser,
    method: 'GET',
    path: '/v1/organization/users/:user_id/identities',
    summary: 'List the identities of a member',
    params: UserParams,
    responses: { 200: listed },
    handle: async ({ caller, params }) => {
      const userId = pathId('user', params.user_id)
      const identities = await directory.listIdentities({ accountId: caller.accountId, userId })
      return wholeList('identities', identities.map(identityToWire))
    },
  }),
  defineRoute({
    ...ofUser,
    method: 'DELETE',
    path: '/v1/organization/users/:user_id/identities/:id',
    summary: 'Remove an identity of a member',
    needsConfirmation: true,
    params: OfUserParams,
    query: RemoveQuery,
    otherErrors: [409],
    responses: { 200: removed },
    handle: async ({ caller, params, query }) => {
      const userId = pathId('user', params.user_id)
      return remove(directory, { caller, userId, providerId: params.id, query })
    },
  }),
]

interface Removal {
  readonly caller: Caller
  readonly userId: string
  readonly providerId: string
  readonly query: Static<typeof RemoveQuery>
}

async function remove(directory: Identities, { caller, userId, providerId, query }: Removal) {
  const evenIfLast = query.even_if_last === true
  return identityToWire(await directory.removeIdentity({ caller, userId, providerId, evenIfLast }))
}

function findPerson(caller: Caller): (Caller & { readonly userId: string }) | null {
  const { userId, session } = caller
  return typeof userId === 'string' && session !== undefined ? { ...caller, userId } : null
}

/** A key that a person gave to a program must not make itself a way to sign in. */
function requirePerson(caller: Caller): Caller & { readonly userId: string } {
  const person = findPerson(caller)
  if (person === null) throw notFound('identity')
  return person
}

function identityToWire(identity: Identity): Static<typeof IdentityAnswer> {
  return {
    object: 'identity',
    id: identity.providerId,
    provider: identity.providerName,
    issuer: identity.issuer,
    is_enabled: identity.isEnabled,
    email: identity.email,
    created_at: toTimestamp(identity.createdAtMs),
    last_used_at: toTimestamp(identity.lastUsedAtMs),
  }
}
