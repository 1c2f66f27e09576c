import { Type, type Static } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import {
  ACCOUNT_RULES,
  type IdentityProvider,
  type ProviderChange,
} from '../../../modules/directory/directory.ts'
import { ACCOUNT_ROLES } from '../../../modules/people/people.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { CreatedAt, objectName, UpdatedAt, UuidId } from '../../../wires/usual-members.ts'
import { Name } from '../account/api-key-wire.ts'

const NAMES_MAX = 100

const Group = Type.String({ minLength: 1, maxLength: 256 })
const Groups = Type.Array(Group, { maxItems: NAMES_MAX, uniqueItems: true })
const Domain = Type.String({
  maxLength: 253,
  pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)*$',
  description: 'In lower case, without `@`.',
})

const ProviderAccount = Type.Object(
  {
    account_id: Type.String({ maxLength: 100, description: 'The id of an account.' }),
    match: Type.Optional(
      Type.String({
        maxLength: 256,
        description: 'The domain or the group that leads to it, by `account_rule`. Absent: everybody.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** What create and update both take. */
export const settings = {
  scopes: Type.Array(Type.String({ minLength: 1, maxLength: 100, pattern: '^[!-~]+$' }), {
    maxItems: 20,
    uniqueItems: true,
    description: 'What is asked of the provider. Contains `openid`.',
  }),
  groups_claim: orNull(
    Type.String({ minLength: 1, maxLength: 200 }),
    'The claim with the groups of a person, in the ID token or from userinfo. A path such as `realm_access.roles` also. Null: groups are not followed.',
  ),
  allowed_domains: Type.Array(Domain, {
    maxItems: NAMES_MAX,
    uniqueItems: true,
    description: 'Only people with e-mail addresses of these domains sign in. Empty: any.',
  }),
  needs_verified_email: Type.Boolean({
    description:
      'Whether the provider has to say that it verified the address. False needs `allowed_domains`.',
  }),
  account_rule: Type.Enum([...ACCOUNT_RULES], {
    description:
      'How the account of a person is found: `fixed` one for everybody, `domain` by the domain of the e-mail address, `group` by a group, `invited` where the person is invited or has signed in, `own` one of their own, made at the first sign-in.',
  }),
  accounts: Type.Array(ProviderAccount, {
    maxItems: NAMES_MAX,
    description: 'The accounts that this provider speaks for, in the order in which they are tried.',
  }),
  makes_members: Type.Boolean({
    description: 'Whether people become members of these accounts at their first sign-in.',
  }),
  member_role: Type.Enum([...ACCOUNT_ROLES], { description: 'What they become.' }),
  links_members: Type.Boolean({
    description:
      'Whether a member of one of `accounts` with an address of `allowed_domains`, who has not signed in with a provider before, is whoever has this address at the provider.',
  }),
  operator_groups: described(Groups, 'These groups make their people operators of the gateway.'),
  operator_reader_groups: described(Groups, 'These make them operators who change nothing.'),
  enabled: Type.Boolean({
    description: 'Whether people can sign in with it. Switching it off ends its sessions.',
  }),
}

const ClientId = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '^[ -~]+$',
  description: 'What the provider calls this gateway.',
})
const ClientSecret = orNull(
  Type.String({ minLength: 1, maxLength: 2000, pattern: '^[ -~]+$' }),
  'The secret of the client. It is stored encrypted and never shown. Null for a public client.',
)

export const CreateBody = Type.Object(
  {
    name: described(Name, 'What the button on the sign-in page says.'),
    issuer: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'The issuer, as its tokens write it. It never changes. `http` only in a private network.',
    }),
    client_id: ClientId,
    client_secret: Type.Optional(ClientSecret),
    ...optional(settings),
  },
  {
    additionalProperties: false,
    examples: [
      {
        name: 'Acme',
        issuer: 'https://login.acme.example/realms/acme',
        client_id: 'parkway',
        client_secret: 'the-secret-of-the-client',
        allowed_domains: ['acme.example'],
        account_rule: 'invited',
      },
    ],
  },
)

export const ChangeBody = Type.Object(
  {
    name: Type.Optional(described(Name, 'What the button on the sign-in page says.')),
    client_id: Type.Optional(ClientId),
    client_secret: Type.Optional(ClientSecret),
    ...optional(settings),
  },
  { additionalProperties: false, examples: [{ enabled: false }] },
)

export const ProviderAnswer = Type.Object(
  {
    object: objectName('identity_provider'),
    id: UuidId,
    name: Type.String({ description: 'What the button on the sign-in page says.' }),
    issuer: Type.String({ description: 'The issuer.' }),
    client_id: Type.String({ description: 'What the provider calls this gateway.' }),
    has_client_secret: Type.Boolean({ description: 'Whether a secret is stored.' }),
    ...settings,
    accounts: Type.Array(
      Type.Object({
        account_id: Type.String({ format: 'uuid', description: 'The id of the account.' }),
        match: orNull(Type.String(), 'The domain or the group that leads to it. Null: everybody.'),
      }),
      { description: 'The accounts that this provider speaks for.' },
    ),
    operator_account_id: Type.String({
      description: 'As members of this account, people of the operator groups operate the gateway.',
    }),
    redirect_uri: Type.String({ description: 'To enter at the provider: where it sends people back to.' }),
    logout_uri: Type.String({
      description: 'To enter at the provider, for back-channel and for front-channel logout.',
    }),
    last_sign_in_at: orNull(Type.String({ format: 'date-time' }), 'When somebody last signed in with it.'),
    last_failure: orNull(
      Type.Object({
        at: Type.String({ format: 'date-time', description: 'When it was.' }),
        message: Type.String({ description: 'What was wrong.' }),
      }),
      'The last sign-in that failed, for a reason that an operator can do something about.',
    ),
    groups_missing_at: orNull(
      Type.String({ format: 'date-time' }),
      'When the provider last left out the groups of somebody who is in too many of them. Their groups were left as they were.',
    ),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  },
  { title: 'IdentityProvider' },
)

export const TestAnswer = Type.Object(
  {
    object: objectName('identity_provider.test'),
    ok: Type.Boolean({ description: 'Whether nothing failed. The client secret shows only at a sign-in.' }),
    checks: Type.Array(
      Type.Object({
        name: Type.String({ description: 'What was looked at.' }),
        outcome: Type.Enum(['ok', 'warning', 'failed'], {
          description: '`warning`: people can sign in, but something else does not work.',
        }),
        message: Type.String({ description: 'What was found.' }),
      }),
      { description: 'In the order in which they were made.' },
    ),
  },
  { title: 'IdentityProviderTest' },
)

export function providerToWire(provider: IdentityProvider, baseUrl: string): Static<typeof ProviderAnswer> {
  const { lastFailure } = provider
  return {
    object: 'identity_provider',
    id: provider.id,
    name: provider.name,
    issuer: provider.issuer,
    client_id: provider.clientId,
    has_client_secret: provider.hasClientSecret,
    scopes: [...provider.scopes],
    groups_claim: provider.groupsClaim,
    allowed_domains: [...provider.allowedDomains],
    needs_verified_email: provider.needsVerifiedEmail,
    account_rule: provider.accountRule,
    accounts: provider.accounts.map(({ accountId, match }) => ({
      account_id: accountId,
      match: match === '' ? null : match,
    })),
    makes_members: provider.makesMembers,
    member_role: roleOf(provider.memberRole),
    links_members: provider.linksMembers,
    operator_groups: [...provider.operatorGroups],
    operator_reader_groups: [...provider.operatorReaderGroups],
    enabled: provider.isEnabled,
    operator_account_id: wireId('organization', provider.accountId),
    redirect_uri: `${baseUrl}/v1/sessions/directory/callback`,
    logout_uri: `${baseUrl}/v1/sessions/directory/${provider.id}/logout`,
    last_sign_in_at: timeOf(provider.lastSignInAtMs),
    last_failure:
      lastFailure === null ? null : { at: toTimestamp(lastFailure.atMs), message: lastFailure.message },
    groups_missing_at: timeOf(provider.groupsMissingAtMs),
    created_at: toTimestamp(provider.createdAtMs),
    updated_at: toTimestamp(provider.updatedAtMs),
  }
}

/** Returns what a body changes, with our names. */
export function readSettings(body: Omit<Static<typeof ChangeBody>, 'name' | 'client_id'>): ProviderChange {
  const change: ProviderChange = {
    ...(body.client_secret !== undefined && { clientSecret: body.client_secret }),
    ...(body.scopes !== undefined && { scopes: body.scopes }),
    ...(body.groups_claim !== undefined && { groupsClaim: body.groups_claim }),
    ...(body.allowed_domains !== undefined && { allowedDomains: body.allowed_domains }),
    ...(body.needs_verified_email !== undefined && { needsVerifiedEmail: body.needs_verified_email }),
    ...(body.account_rule !== undefined && { accountRule: body.account_rule }),
    ...(body.accounts !== undefined && { accounts: body.accounts.map(readAccount) }),
    ...(body.makes_members !== undefined && { makesMembers: body.makes_members }),
    ...(body.member_role !== undefined && { memberRole: body.member_role }),
    ...(body.links_members !== undefined && { linksMembers: body.links_members }),
    ...(body.operator_groups !== undefined && { operatorGroups: body.operator_groups }),
    ...(body.operator_reader_groups !== undefined && { operatorReaderGroups: body.operator_reader_groups }),
    ...(body.enabled !== undefined && { isEnabled: body.enabled }),
  }
  return change
}

function readAccount({ account_id: text, match = '' }: Static<typeof ProviderAccount>) {
  const accountId = parseWireId('organization', text)
  if (accountId === null) throw notFound('account')
  return { accountId, match }
}

function roleOf(role: string): (typeof ACCOUNT_ROLES)[number] {
  return ACCOUNT_ROLES.find((known) => known === role) ?? 'reader'
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : toTimestamp(ms)
}

function optional(members: typeof settings) {
  return {
    scopes: Type.Optional(members.scopes),
    groups_claim: Type.Optional(members.groups_claim),
    allowed_domains: Type.Optional(members.allowed_domains),
    needs_verified_email: Type.Optional(members.needs_verified_email),
    account_rule: Type.Optional(members.account_rule),
    accounts: Type.Optional(members.accounts),
    makes_members: Type.Optional(members.makes_members),
    member_role: Type.Optional(members.member_role),
    links_members: Type.Optional(members.links_members),
    operator_groups: Type.Optional(members.operator_groups),
    operator_reader_groups: Type.Optional(members.operator_reader_groups),
    enabled: Type.Optional(members.enabled),
  }
}
