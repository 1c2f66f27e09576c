import { Type, type Static } from 'typebox'
import type { Clock } from '../../../kernel/clock.ts'
import type { Scim, ScimToken } from '../../../modules/scim/scim.ts'
import { described } from '../../../wires/described.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
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
import { pathId } from './own-project.ts'

const TOKEN_SECONDS_MAX = 10 * 366 * 24 * 60 * 60
const SECOND_MS = 1000

const members = {
  object: objectName('organization.scim_token'),
  id: Id,
  name: Type.String({
    description: 'The name that people gave it. The audit log names it for what the directory does.',
  }),
  redacted_value: Type.String({ description: 'The beginning of the token, to recognise it by.' }),
  created_at: Type.Integer({ description: 'In seconds.' }),
  expires_at: orNull(Type.Integer(), 'In seconds. Null for never.'),
  last_used_at: orNull(Type.Integer(), 'In seconds, exact to the minute. Null if no directory has used it.'),
}
const TokenAnswer = Type.Object(members, { title: 'ScimToken' })
const CreatedAnswer = Type.Object(
  { ...members, value: Type.String({ description: 'The token itself. It is shown only here.' }) },
  { title: 'CreatedScimToken' },
)

const CreateBody = Type.Object(
  {
    name: described(Name, 'Usually the name of the directory.'),
    expires_in_seconds: nullable(
      Type.Integer({ minimum: 1, maximum: TOKEN_SECONDS_MAX }),
      'After how many seconds the token stops working. Otherwise never.',
    ),
  },
  { additionalProperties: false, examples: [{ name: 'Okta' }] },
)

const TokenParams = Type.Object({
  token_id: Type.String({ maxLength: 100, description: 'The id of a token, not the token: `scim_token_…`.' }),
})

const AT = '/v1/organization/scim_tokens'
const shared = { tag: 'Organization' } as const

interface ScimTokenParts {
  readonly scim: Pick<Scim, 'tokens'>
  readonly clock: Clock
}

export const scimTokenRoutes = ({ scim: { tokens }, clock }: ScimTokenParts): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: AT,
    access: inAccount('members.manage'),
    summary: 'List SCIM tokens',
    query: OrganizationListQuery,
    responses: {
      200: {
        description: 'The tokens that are not deleted.',
        schema: organizationList('ScimTokenList', TokenAnswer),
      },
    },
    handle: async ({ caller, query }) =>
      listOf(await tokens.list(caller.accountId, readPage('scimToken', query)), tokenToWire),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: AT,
    access: inAccount('members.manage'),
    needsConfirmation: true,
    summary: 'Create a SCIM token',
    body: CreateBody,
    responses: { 200: { description: 'The token, shown this once.', schema: CreatedAnswer } },
    handle: async ({ caller, body }) => {
      const seconds = body.expires_in_seconds ?? null
      const expiresAtMs = seconds === null ? null : clock.nowMs() + seconds * SECOND_MS
      const { token, text } = await tokens.create(caller, { name: body.name, expiresAtMs })
      return { ...tokenToWire(token), value: text }
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${AT}/:token_id`,
    access: inAccount('members.manage'),
    summary: 'Read a SCIM token',
    params: TokenParams,
    responses: { 200: { description: 'The token, without its secret.', schema: TokenAnswer } },
    handle: async ({ caller, params }) =>
      tokenToWire(await tokens.read(caller.accountId, pathId('scimToken', params.token_id))),
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: `${AT}/:token_id`,
    access: inAccount('members.manage'),
    summary: 'Delete a SCIM token',
    params: TokenParams,
    responses: {
      200: {
        description: 'Every process refuses the token from now on. People and groups stay as they are.',
        schema: deletedAnswer('organization.scim_token.deleted'),
      },
    },
    handle: async ({ caller, params }) => {
      const id = pathId('scimToken', params.token_id)
      await tokens.delete(caller, id)
      return { object: 'organization.scim_token.deleted', id: wireId('scimToken', id), deleted: true }
    },
  }),
]

function tokenToWire(token: ScimToken): Static<typeof TokenAnswer> {
  return {
    object: 'organization.scim_token',
    id: wireId('scimToken', token.id),
    name: token.name,
    redacted_value: token.prefix,
    created_at: unixSeconds(token.createdAtMs),
    expires_at: token.expiresAtMs === null ? null : unixSeconds(token.expiresAtMs),
    last_used_at: token.lastUsedAtMs === null ? null : unixSeconds(token.lastUsedAtMs),
  }
}
