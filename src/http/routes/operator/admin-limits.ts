import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Limits } from '../../../modules/limits/limits.ts'
import { described } from '../../../wires/described.ts'
import { AccountId, objectName } from '../../../wires/usual-members.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { LimitsAnswer, limitsToWire, StoredAnswer, storedToWire } from '../account/limits-wire.ts'

const AccountParams = Type.Object({ id: Type.String({ description: 'The id of an account.' }) })

// Unknown members are refused, so that a misspelt limit is not ignored.
const TierBody = Type.Object(
  {
    tier: Type.Union([Type.String({ minLength: 1, maxLength: 40 }), Type.Null()], {
      description: 'The name of a tier, whatever the balance. Null leaves the tier to the balance.',
    }),
  },
  { additionalProperties: false, examples: [{ tier: 'tier_3' }] },
)

const AccountLimitsAnswer = Type.Object(
  {
    object: objectName('account_limits'),
    account_id: AccountId,
    tier: Type.String({ description: 'The set of limits that applies to the account.' }),
    set_tier: Type.Union([Type.String(), Type.Null()], {
      description: 'The tier that an operator has set. Null if the balance decides.',
    }),
    tiers: Type.Array(Type.String(), { description: 'Every tier, in ascending order of balance.' }),
    limits: described(LimitsAnswer, 'The limits in force. `null` where there is none.'),
    stored: StoredAnswer,
  },
  { title: 'AccountLimits' },
)

interface AdminLimitModules {
  readonly accounts: Pick<Accounts, 'read'>
  readonly limits: Pick<Limits, 'describeAccount' | 'readStoredBytes' | 'setTier' | 'tierNames'>
  readonly audit: Audit
}

/** Operator routes for the limits of an account. */
export const adminLimitRoutes = (modules: AdminLimitModules): Route[] => {
  const { accounts, limits, audit } = modules
  const shared = { tag: 'Operator', path: '/v1/admin/accounts/:id/limits' } as const

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      access: ofGateway('gateway.read'),
      summary: 'Read the limits of an account',
      params: AccountParams,
      responses: { 200: { description: 'The limits and what is stored.', schema: AccountLimitsAnswer } },
      handle: async ({ params }) => describe(modules, (await accounts.read(params.id)).id),
    }),
    defineRoute({
      ...shared,
      method: 'PATCH',
      access: ofGateway('gateway.manage'),
      summary: 'Set the tier of an account',
      params: AccountParams,
      body: TierBody,
      responses: { 200: { description: 'The limits as they now are.', schema: AccountLimitsAnswer } },
      handle: async ({ caller, params, body: { tier } }) => {
        if (tier !== null && !limits.tierNames.includes(tier))
          throw invalidValue('tier', `tier must be one of ${limits.tierNames.join(', ')}, or null.`)
        const { id } = await accounts.read(params.id)
        const target = { kind: 'account', id }
        const readState = async () => ({ tier: (await limits.describeAccount(id)).setTier })
        const entry = { actor: caller, action: 'limits.set', target, details: { tier }, readState }
        await audit.run(entry, async () => {
          await limits.setTier(caller, id, tier)
          return {}
        })
        return describe(modules, id)
      },
    }),
  ]
}

async function describe(
  { limits }: AdminLimitModules,
  accountId: string,
): Promise<Static<typeof AccountLimitsAnswer>> {
  const [applied, stored] = await Promise.all([
    limits.describeAccount(accountId),
    limits.readStoredBytes(accountId),
  ])
  return {
    object: 'account_limits',
    account_id: accountId,
    tier: applied.tier,
    set_tier: applied.setTier,
    tiers: [...limits.tierNames],
    limits: limitsToWire(applied),
    stored: storedToWire(stored),
  }
}
