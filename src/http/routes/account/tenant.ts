import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import { ENVIRONMENTS, PERMISSIONS, SCOPES, seesBalance, type Caller } from '../../../modules/keys/keys.ts'
import type { Limits } from '../../../modules/limits/limits.ts'
import type { People } from '../../../modules/people/people.ts'
import type { Projects } from '../../../modules/projects/projects.ts'
import type { Sessions } from '../../../modules/sessions/sessions.ts'
import { described } from '../../../wires/described.ts'
import { CreatedAt, UuidId, objectName } from '../../../wires/usual-members.ts'
import { ANY_KEY, inAccount } from '../../access.ts'
import { requireTimeZone } from '../../parameters/calendar-range.ts'
import { defineRoute, type Route } from '../../route.ts'
import { readSessionPlace, SessionPlace } from './current-session.ts'
import { LimitsAnswer, limitsToWire, StoredAnswer, storedToWire } from './limits-wire.ts'

const TenantAnswer = Type.Object({
  id: UuidId,
  object: objectName('tenant'),
  name: Type.String({ description: 'The name of the account.' }),
  status: Type.Enum(['active', 'suspended'], { description: 'The state it is in.' }),
  time_zone: Type.String({
    description:
      'The time zone that the account chose for its reports, such as `Europe/Zurich`; `UTC` unless set.',
  }),
  balance_usd: Type.Union([Type.Number(), Type.Null()], {
    description:
      'The balance of the account in US dollars. Null for a key without `manage`, and for keys and sessions of a project.',
  }),
  created_at: CreatedAt,
  limits_tier: Type.String({ description: 'The set of limits that applies to the account.' }),
  limits: described(LimitsAnswer, 'The limits in force. `null` where there is none.'),
  stored: StoredAnswer,
  key: Type.Object(
    {
      id: UuidId,
      env: Type.Enum([...ENVIRONMENTS], {
        description: 'The environment of the key: `dev`, `test`, `live` or `prod`.',
      }),
      scopes: Type.Array(Type.Enum([...SCOPES]), { description: 'What the key may do.' }),
      allowed_models: Type.Union([Type.Array(Type.String()), Type.Null()], {
        description: 'The models that it may use. Null for all.',
      }),
      expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description: 'When it stops working. Null for never.',
      }),
    },
    { description: 'The key that asks, or that of the session where it works.' },
  ),
  is_operator: Type.Boolean({ description: 'Whether the key can administer the gateway (scope `admin`).' }),
  session: Type.Union(
    [
      Type.Object({
        id: UuidId,
        is_confirmed: Type.Boolean({
          description: 'Whether the key was entered in the last minutes, as changing credit needs it.',
        }),
        ...SessionPlace,
        permissions: Type.Array(Type.Enum([...PERMISSIONS]), { description: 'What the session may do.' }),
        has_projects: Type.Boolean({
          description: 'Whether there are projects to choose from. `GET /v1/sessions/current` lists them.',
        }),
      }),
      Type.Null(),
    ],
    { description: 'The session of the request. Null for a request with a key.' },
  ),
  gateway: Type.Object(
    {
      version: Type.String({ description: 'The version of the gateway.' }),
      url: Type.Union([Type.String(), Type.Null()], {
        description: 'The address for clients, if the operator set one (`PARKWAY_PUBLIC_URL`).',
      }),
      has_billing: Type.Boolean({ description: 'Whether requests are charged.' }),
      has_providers: Type.Boolean({ description: 'Whether a provider of real models is configured.' }),
      has_sandbox: Type.Boolean({
        description: 'Whether the sandbox answers this key where a model has no provider.',
      }),
      has_deployments: Type.Boolean({ description: 'Whether models can be deployed on GPUs.' }),
    },
    { description: 'What this gateway offers.' },
  ),
})

// Unknown members are refused, so that a misspelt one is not ignored.
const TenantBody = Type.Object(
  {
    time_zone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'The time zone for its reports, such as `Europe/Zurich`, or `UTC`. Statements are always of UTC.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ time_zone: 'Europe/Zurich' }] },
)

interface TenantRouteOptions {
  readonly accounts: Accounts
  readonly limits: Pick<Limits, 'describe' | 'readStoredBytes'>
  readonly sessions: Pick<Sessions, 'listProjects'>
  readonly people: Pick<People, 'read'>
  readonly projects: Pick<Projects, 'read'>
  readonly mayUseSandbox: (caller: Caller) => boolean
  readonly gateway: GatewayOffer
}

/** What is the same for all accounts. */
interface GatewayOffer {
  readonly version: string
  readonly publicUrl: string | null
  readonly hasBilling: boolean
  readonly hasProviders: () => boolean
  readonly hasDeployments: boolean
}

export const tenantRoutes = (options: TenantRouteOptions): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/v1/tenants/me',
    summary: 'Read the account of the key',
    tag: 'Account',
    access: ANY_KEY,
    responses: { 200: { description: 'The account.', schema: TenantAnswer } },
    handle: ({ caller }) => describeTenant(caller, options),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/v1/tenants/me',
    summary: 'Change the account of the key',
    tag: 'Account',
    access: inAccount('projects.manage'),
    body: TenantBody,
    responses: { 200: { description: 'The account as it now is.', schema: TenantAnswer } },
    handle: async ({ caller, body: { time_zone: timeZone } }) => {
      if (timeZone !== undefined) {
        requireTimeZone(timeZone)
        await options.accounts.setTimeZone(caller, timeZone === 'UTC' ? null : timeZone)
      }
      return describeTenant(caller, options)
    },
  }),
]

async function describeTenant(
  caller: Caller,
  options: TenantRouteOptions,
): Promise<Static<typeof TenantAnswer>> {
  const { accounts, limits, mayUseSandbox, gateway } = options
  const [account, applied, stored, session] = await Promise.all([
    accounts.read(caller.accountId),
    limits.describe(caller),
    limits.readStoredBytes(caller.accountId),
    describeSession(caller, options),
  ])
  return {
    id: account.id,
    object: 'tenant',
    name: account.name,
    status: account.status,
    time_zone: account.timeZone ?? 'UTC',
    balance_usd: seesBalance(caller) ? usdFromNanoUsd(account.balanceNanoUsd) : null,
    created_at: toTimestamp(account.createdAtMs),
    limits_tier: applied.tier,
    limits: limitsToWire(applied),
    stored: storedToWire(stored),
    key: {
      id: caller.keyId,
      env: caller.environment,
      scopes: [...caller.scopes],
      allowed_models: caller.allowedModels === null ? null : [...caller.allowedModels],
      expires_at: typeof caller.expiresAtMs === 'number' ? toTimestamp(caller.expiresAtMs) : null,
    },
    is_operator: caller.permissions.has('gateway.read'),
    session,
    gateway: {
      version: gateway.version,
      url: gateway.publicUrl,
      has_billing: gateway.hasBilling,
      has_providers: gateway.hasProviders(),
      has_sandbox: mayUseSandbox(caller),
      has_deployments: gateway.hasDeployments,
    },
  }
}

/** `Default` alone, or one project alone, is no choice. */
const CHOICE_MIN = 2

async function describeSession(
  caller: Caller,
  { sessions, people, projects }: Pick<TenantRouteOptions, 'sessions' | 'people' | 'projects'>,
) {
  if (caller.session === undefined) return null
  const [place, choice] = await Promise.all([
    readSessionPlace(caller, { people, projects }),
    sessions.listProjects(caller, { search: '', limit: CHOICE_MIN }),
  ])
  return {
    id: caller.session.id,
    is_confirmed: caller.session.isConfirmed,
    ...place,
    permissions: PERMISSIONS.filter((permission) => caller.permissions.has(permission)),
    has_projects: choice.projects.length >= CHOICE_MIN,
  }
}
