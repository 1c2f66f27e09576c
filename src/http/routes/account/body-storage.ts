import { Type, type Static } from 'typebox'
import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Caller, Keys } from '../../../modules/keys/keys.ts'
import type { BodyPolicy, StoredBodies } from '../../../modules/request-log/request-log.ts'
import { AccountId, objectName } from '../../../wires/usual-members.ts'
import { inAccount, ofGateway } from '../../access.ts'
import { pickMembers } from '../../parameters/pick-members.ts'
import { defineRoute, type Route } from '../../route.ts'

const RETENTION_DAYS_DEFAULT = 7

const BodyStorageBody = Type.Object(
  {
    enabled: Type.Union([Type.Boolean(), Type.Null()], {
      description:
        'Whether bodies are stored. `null` for a key: as for the account. Off deletes what is stored.',
    }),
    retention_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3650,
        default: RETENTION_DAYS_DEFAULT,
        description: 'How long bodies are kept that are stored from now on.',
      }),
    ),
    key_id: Type.Optional(
      Type.String({ maxLength: 64, description: 'The id of a key: only its bodies. Otherwise of all keys.' }),
    ),
  },
  { additionalProperties: false, examples: [{ enabled: true, retention_days: 7 }] },
)

const policyFields = {
  enabled: Type.Boolean({ description: 'Whether bodies are stored.' }),
  retention_days: Type.Integer({ description: 'For how many days.' }),
}

const BodyStorageAnswer = Type.Object({
  object: objectName('body_storage'),
  tenant_id: AccountId,
  ...policyFields,
  keys: Type.Array(
    Type.Object({
      key_id: Type.String({ format: 'uuid', description: 'The id of the API key.' }),
      ...policyFields,
    }),
    {
      description: 'Keys for which something else is set than for the account.',
    },
  ),
  may_change: Type.Boolean({ description: 'Whether the account itself may change this.' }),
  stored_bytes: Type.Integer({ description: 'How much the stored bodies take, compressed.' }),
  body_bytes_max: Type.Integer({ description: 'How much of each body is stored.' }),
  stored_bytes_max: Type.Integer({
    description: 'How much stored bodies may take. Beyond it the oldest are deleted.',
  }),
  retention_days_max: Type.Integer({ description: 'The longest retention.' }),
})

/** The operator's settings. */
export interface BodyStorageRules {
  readonly who: 'off' | 'operator' | 'accounts'
  readonly retentionDaysMax: number
  readonly bodyBytesMax: number
  readonly accountBytesMax: number
}

interface BodyStorageParts {
  readonly storedBodies: StoredBodies
  readonly accounts: Pick<Accounts, 'read'>
  readonly keys: Pick<Keys, 'read'>
  readonly audit: Audit
  readonly rules: BodyStorageRules
}

const responses = { 200: { description: 'What is stored, and for how long.', schema: BodyStorageAnswer } }
const AccountParams = Type.Object({ id: Type.String({ description: 'The id of an account.' }) })

export const bodyStorageRoutes = (parts: BodyStorageParts): Route[] => [
  ...ownRoutes(parts),
  ...operatorRoutes(parts),
]

const ownRoutes = (parts: BodyStorageParts): Route[] => [
  defineRoute({
    method: 'GET',
    tag: 'Usage',
    path: '/v1/body-storage',
    access: inAccount('organization.read'),
    summary: 'Read whether bodies are stored',
    responses,
    handle: ({ caller }) => describeStorage(parts, caller.accountId),
  }),
  defineRoute({
    method: 'PATCH',
    tag: 'Usage',
    path: '/v1/body-storage',
    access: inAccount('projects.manage'),
    summary: 'Set whether bodies are stored',
    body: BodyStorageBody,
    otherErrors: [404],
    responses,
    handle: async ({ caller, body }) => {
      if (parts.rules.who !== 'accounts')
        throw new AppError('forbidden', 'Only the operator of this gateway sets whether bodies are stored.')
      await changeStorage(parts, caller, { accountId: caller.accountId, ...body })
      return describeStorage(parts, caller.accountId)
    },
  }),
]

const operatorRoutes = (parts: BodyStorageParts): Route[] => [
  defineRoute({
    method: 'GET',
    tag: 'Operator',
    path: '/v1/admin/accounts/:id/body-storage',
    access: ofGateway('gateway.read'),
    summary: 'Read whether bodies of an account are stored',
    params: AccountParams,
    responses,
    handle: async ({ params }) => describeStorage(parts, (await parts.accounts.read(params.id)).id),
  }),
  defineRoute({
    method: 'PATCH',
    tag: 'Operator',
    path: '/v1/admin/accounts/:id/body-storage',
    access: ofGateway('gateway.manage'),
    summary: 'Set whether bodies of an account are stored',
    params: AccountParams,
    body: BodyStorageBody,
    responses,
    handle: async ({ caller, params, body }) => {
      const { id } = await parts.accounts.read(params.id)
      const entry = {
        actor: caller,
        action: 'account.body_storage',
        target: { kind: 'account', id },
        details: body,
        readState: async () =>
          pickMembers(await describeStorage(parts, id), ['enabled', 'retention_days', 'keys']),
      }
      await parts.audit.run(entry, async () => {
        await changeStorage(parts, caller, { accountId: id, ...body })
        return {}
      })
      return describeStorage(parts, id)
    },
  }),
]

async function changeStorage(
  { storedBodies, keys, rules }: BodyStorageParts,
  actor: Caller,
  {
    accountId,
    enabled,
    retention_days: retentionDays,
    key_id: keyId,
  }: Static<typeof BodyStorageBody> & { accountId: string },
) {
  const days = retentionDays ?? Math.min(RETENTION_DAYS_DEFAULT, rules.retentionDaysMax)
  if (days > rules.retentionDaysMax)
    throw invalidValue('retention_days', `retention_days must be at most ${rules.retentionDaysMax}.`)
  if (enabled === true && rules.who === 'off')
    throw new AppError('forbidden', 'PARKWAY_BODY_STORAGE of this gateway is off: bodies are never stored.')
  if (enabled === null && keyId === undefined)
    throw invalidValue('enabled', 'enabled must be true or false for an account.')
  // Throws for the key of another account.
  const key = keyId === undefined ? null : await keys.read(accountId, keyId)
  const policy = enabled === null ? null : { isOn: enabled, retentionDays: days }
  await storedBodies.setPolicy(actor, { accountId, keyId: key?.id ?? null }, policy)
}

async function describeStorage(
  { storedBodies, rules }: BodyStorageParts,
  accountId: string,
): Promise<Static<typeof BodyStorageAnswer>> {
  const { account, keys } = storedBodies.listPolicies(accountId)
  return {
    object: 'body_storage',
    tenant_id: accountId,
    ...policyToWire(account ?? { isOn: false, retentionDays: RETENTION_DAYS_DEFAULT }, rules),
    keys: [...keys].map(([keyId, policy]) => ({ key_id: keyId, ...policyToWire(policy, rules) })),
    may_change: rules.who === 'accounts',
    stored_bytes: await storedBodies.readStoredBytes(accountId),
    body_bytes_max: rules.bodyBytesMax,
    stored_bytes_max: rules.accountBytesMax,
    retention_days_max: rules.retentionDaysMax,
  }
}

function policyToWire({ isOn, retentionDays }: BodyPolicy, { who }: BodyStorageRules) {
  return { enabled: isOn && who !== 'off', retention_days: retentionDays }
}
