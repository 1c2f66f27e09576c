import { Type, type Static } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import { ENVIRONMENTS } from '../../../modules/keys/keys.ts'
import {
  ENVIRONMENT_DEFAULT,
  TRUST_ALGORITHMS,
  type IssuerDraft,
  type Trust,
  type TrustedIssuer,
} from '../../../modules/trust/trust.ts'
import { described } from '../../../wires/described.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { Name } from '../account/api-key-wire.ts'
import { deletedAnswer, unixSeconds } from './organization-list.ts'
import { ownProject, pathId, ProjectParams } from './own-project.ts'

const LIFETIME_SECONDS_MAX = 3600
const LIFETIME_SECONDS_DEFAULT = 900
const TEXT_MAX = 300
const PLAIN = '^[\\x21-\\x7e]+$'
const CLOSED = { additionalProperties: false }

const Claims = Type.Record(
  Type.String({ minLength: 1, maxLength: 200 }),
  Type.String({ minLength: 1, maxLength: TEXT_MAX }),
  {
    minProperties: 1,
    maxProperties: 10,
    description:
      'What the token must have: names of claims, or ways such as `kubernetes.io/namespace`, with their values. In `sub`, `repository` and `ref`, `*` stands for a part between `/` and `:`, and `**` for several between colons. One claim has to say who asks.',
  },
)
const Lifetime = Type.Integer({
  minimum: 60,
  maximum: LIFETIME_SECONDS_MAX,
  description: `How many seconds the access token lives. ${LIFETIME_SECONDS_DEFAULT} unless told.`,
})
const Env = Type.Enum([...ENVIRONMENTS], {
  description: `The environment of the access token, as of a key. ${ENVIRONMENT_DEFAULT} unless told.`,
})
const Once = Type.Boolean({
  description: 'Takes a token with the same `jti` only once, and none without it. False unless told.',
})
const ServiceAccountId = Type.String({
  maxLength: 100,
  description: 'Who the token becomes: `svc_acct_…` of the project.',
})
const Jwks = Type.Object(
  {
    keys: Type.Array(Type.Object({ kty: Type.String({ description: 'The kind of key.' }) }), {
      minItems: 1,
      maxItems: 20,
      description: 'Public keys, as JWKs.',
    }),
  },
  { description: 'The keys of an issuer that cannot be reached from here, such as a cluster.' },
)

const RuleAnswer = Type.Object({
  claims: Claims,
  service_account_id: ServiceAccountId,
  lifetime_seconds: Lifetime,
  env: Env,
  once: Once,
})
const RuleBody = Type.Object(
  {
    claims: Claims,
    service_account_id: ServiceAccountId,
    lifetime_seconds: Type.Optional(Lifetime),
    env: Type.Optional(Env),
    once: Type.Optional(Once),
  },
  CLOSED,
)

const IssuerText = Type.String({
  maxLength: TEXT_MAX,
  pattern: PLAIN,
  description: 'Exactly as in `iss`: an `https://` address, or any text beside `jwks`.',
})
const Audience = Type.String({
  maxLength: TEXT_MAX,
  pattern: PLAIN,
  description: 'What `aud` must have. Choose one that is for this gateway only.',
})
const Algorithms = Type.Array(Type.Enum([...TRUST_ALGORITHMS]), {
  minItems: 1,
  maxItems: TRUST_ALGORITHMS.length,
  description: 'How tokens may be signed. RS256 and ES256 unless told.',
})
const IssuerName = described(Name, 'A name for people, without control characters. It is in the audit log.')

const IssuerAnswer = Type.Object(
  {
    object: objectName('organization.project.trusted_issuer'),
    id: Id,
    name: IssuerName,
    issuer: IssuerText,
    audience: Audience,
    algorithms: Algorithms,
    jwks: orNull(Jwks, 'Null: the issuer is asked for its keys.'),
    rules: Type.Array(RuleAnswer, { description: 'The first that fits decides.' }),
    created_at: Type.Integer({ description: 'In seconds.' }),
  },
  { title: 'TrustedIssuer' },
)

const Rules = Type.Array(RuleBody, { minItems: 1, maxItems: 20, description: 'The first that fits decides.' })
const jwksMember = nullable(Jwks, 'Null or absent: the issuer is asked for its keys.')
const CreateBody = Type.Object(
  {
    name: IssuerName,
    issuer: IssuerText,
    audience: Audience,
    algorithms: Type.Optional(Algorithms),
    jwks: jwksMember,
    rules: Rules,
  },
  {
    ...CLOSED,
    examples: [
      {
        name: 'GitHub Actions',
        issuer: 'https://token.actions.githubusercontent.com',
        audience: 'https://gateway.example.com',
        rules: [
          {
            claims: { repository: 'acme/site', ref: 'refs/heads/main' },
            service_account_id: 'svc_acct_00000000000000000000000000000000',
          },
        ],
      },
    ],
  },
)
const ChangeBody = Type.Object(
  {
    name: Type.Optional(IssuerName),
    issuer: Type.Optional(IssuerText),
    audience: Type.Optional(Audience),
    algorithms: Type.Optional(Algorithms),
    jwks: jwksMember,
    rules: Type.Optional(Rules),
  },
  { ...CLOSED, examples: [{ audience: 'https://other.example.com' }] },
)

const IssuerParams = Type.Object({
  ...ProjectParams.properties,
  issuer_id: Type.String({ maxLength: 100, description: 'The id of a trusted issuer: `issuer_…`.' }),
})

const BODY_BYTES_MAX = 128 * 1024
const AT = '/v1/organization/projects/:project_id/trusted_issuers'
const shared = { tag: 'Organization' } as const

export const trustedIssuerRoutes = ({ trust }: { trust: Trust }): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: AT,
    access: inProject('organization.read'),
    summary: 'List trusted issuers',
    params: ProjectParams,
    responses: {
      200: {
        description: 'All of the project, the oldest first.',
        schema: Type.Object(
          {
            object: objectName('list'),
            data: Type.Array(IssuerAnswer, { description: 'The issuers.' }),
          },
          { title: 'TrustedIssuerList' },
        ),
      },
    },
    handle: async ({ caller, params }) => ({
      object: 'list',
      data: (await trust.list(caller.accountId, ownProject(caller, params.project_id))).map(toWire),
    }),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: AT,
    access: inProject('keys.manage'),
    needsConfirmation: true,
    summary: 'Trust an issuer',
    params: ProjectParams,
    body: CreateBody,
    bodyLimitBytes: BODY_BYTES_MAX,
    responses: { 200: { description: 'It and the id that machines name.', schema: IssuerAnswer } },
    handle: async ({ caller, params, body }) => {
      const place = { caller, projectId: ownProject(caller, params.project_id) }
      const { algorithms = ['RS256', 'ES256'], jwks, rules, ...named } = body
      const draft = { ...named, algorithms, jwks: jwks ?? null, rules: rules.map(ruleFromWire) }
      return toWire(await trust.create(place, draft))
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${AT}/:issuer_id`,
    access: inProject('keys.manage'),
    needsConfirmation: true,
    summary: 'Change a trusted issuer',
    params: IssuerParams,
    body: ChangeBody,
    bodyLimitBytes: BODY_BYTES_MAX,
    responses: { 200: { description: 'The issuer as it now is.', schema: IssuerAnswer } },
    handle: async ({ caller, params, body }) => {
      const place = { caller, projectId: ownProject(caller, params.project_id) }
      const { rules, ...others } = body
      const changes = { ...others, ...(rules !== undefined && { rules: rules.map(ruleFromWire) }) }
      return toWire(await trust.change(place, issuerIdOf(params), changes))
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: `${AT}/:issuer_id`,
    access: inProject('keys.manage'),
    summary: 'Trust an issuer no longer',
    params: IssuerParams,
    responses: {
      200: {
        description:
          'Its tokens are refused. Access tokens that were made with them live on until they expire.',
        schema: deletedAnswer('organization.project.trusted_issuer.deleted'),
      },
    },
    handle: async ({ caller, params }) => {
      const id = issuerIdOf(params)
      await trust.delete({ caller, projectId: ownProject(caller, params.project_id) }, id)
      return {
        object: 'organization.project.trusted_issuer.deleted',
        id: wireId('trustedIssuer', id),
        deleted: true,
      }
    },
  }),
]

function issuerIdOf({ issuer_id: text }: Static<typeof IssuerParams>): string {
  const id = parseWireId('trustedIssuer', text)
  if (id === null) throw notFound('trusted issuer')
  return id
}

function ruleFromWire(rule: Static<typeof RuleBody>): IssuerDraft['rules'][number] {
  return {
    claims: rule.claims,
    serviceAccountId: pathId('serviceAccount', rule.service_account_id),
    lifetimeSeconds: rule.lifetime_seconds ?? LIFETIME_SECONDS_DEFAULT,
    environment: rule.env ?? ENVIRONMENT_DEFAULT,
    isOnce: rule.once ?? false,
  }
}

function toWire(trusted: TrustedIssuer): Static<typeof IssuerAnswer> {
  return {
    object: 'organization.project.trusted_issuer',
    id: wireId('trustedIssuer', trusted.id),
    name: trusted.name,
    issuer: trusted.issuer,
    audience: trusted.audience,
    algorithms: [...trusted.algorithms],
    jwks:
      trusted.jwks === null
        ? null
        : { keys: trusted.jwks.keys.map(({ kty = '', ...key }) => ({ kty, ...key })) },
    rules: trusted.rules.map(({ claims, serviceAccountId, lifetimeSeconds, environment, isOnce }) => ({
      claims: { ...claims },
      service_account_id: wireId('serviceAccount', serviceAccountId),
      lifetime_seconds: lifetimeSeconds,
      env: environment,
      once: isOnce,
    })),
    created_at: unixSeconds(trusted.createdAtMs),
  }
}
