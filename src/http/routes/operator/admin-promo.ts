import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { PromoCode, PromoCodes, RedemptionRecord } from '../../../modules/billing/billing.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { AccountId, CreatedAt, UuidId, objectName } from '../../../wires/usual-members.ts'
import { listAnswer, ListQuery, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { parseUsd, USD_MAX } from '../../parameters/parse-usd.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const COUNT_MAX = 1_000_000_000
const DAYS_MAX = 3650

const Count = Type.Integer({ minimum: 1, maximum: COUNT_MAX })

// Unknown members are refused, so that a misspelt limit is not ignored.
const CodeCreateBody = Type.Object(
  {
    code: Type.Optional(
      Type.String({
        minLength: 4,
        maxLength: 64,
        pattern: '^[A-Za-z0-9_-]*$',
        description: 'Made up when absent. Upper and lower case are the same.',
      }),
    ),
    amount_usd: Type.Number({
      minimum: 0,
      maximum: USD_MAX,
      description: 'Promotional credit for each redemption.',
    }),
    expires_at: Type.Optional(
      orNull(Type.String({ format: 'date-time' }), 'When the code stops working. Null for never.'),
    ),
    credit_expires_in_days: Type.Optional(
      orNull(Type.Integer({ minimum: 1, maximum: DAYS_MAX }), 'How long the credit lasts. Null for ever.'),
    ),
    redemptions_max: Type.Optional(orNull(Count, 'In all. Null for any number.')),
    redemptions_per_account_max: Type.Optional(
      described(Count, 'How often one account can redeem the code.'),
    ),
  },
  { additionalProperties: false },
)

const CodeAnswer = Type.Object(
  {
    id: UuidId,
    object: objectName('promo_code'),
    code: Type.String({ description: 'The code that accounts redeem.' }),
    amount_usd: Type.Number({ description: 'The amount in US dollars.' }),
    class: Type.Literal('promotional'),
    expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When it stops being valid. `null`: never.',
    }),
    credit_expires_in_days: Type.Union([Type.Integer(), Type.Null()], {
      description: 'After how many days the credit expires. `null`: never.',
    }),
    redemptions_max: Type.Union([Type.Integer(), Type.Null()], {
      description: 'How often the code can be redeemed in all.',
    }),
    redemptions_per_account_max: Type.Integer({ description: 'How often one account can redeem the code.' }),
    redemptions: Type.Integer({ description: 'So far.' }),
    disabled_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the code was disabled. `null`: it is not.',
    }),
    created_at: CreatedAt,
  },
  { title: 'PromoCode' },
)

const RedemptionAnswer = Type.Object({
  id: Type.String({ format: 'uuid', description: 'Of the payment in the history of the account.' }),
  account_id: AccountId,
  account_name: Type.String({ description: 'The name of the account.' }),
  amount_usd: Type.Number({ description: 'The amount in US dollars.' }),
  redeemed_at: Type.String({ format: 'date-time', description: 'When the code was redeemed.' }),
})

const CodeParams = Type.Object({ id: Type.String({ description: 'The id of a promo code, not the code.' }) })

export const adminPromoRoutes = ({
  promoCodes,
  audit,
}: {
  promoCodes: PromoCodes
  audit: Audit
}): Route[] => {
  const shared = { tag: 'Operator' } as const
  const target = (id: string | null) => ({ kind: 'promo_code', id })

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/admin/promo-codes',
      access: ofGateway('gateway.read'),
      summary: 'List promo codes',
      query: ListQuery,
      responses: {
        200: { description: 'Every code, newest first.', schema: listSchema('codes', CodeAnswer) },
      },
      handle: async ({ query }) =>
        listAnswer('codes', await promoCodes.list(parsePageRequest(query)), codeToWire),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/admin/promo-codes',
      access: ofGateway('gateway.manage'),
      needsConfirmation: true,
      summary: 'Create a promo code',
      body: CodeCreateBody,
      responses: { 201: { description: 'The code.', schema: CodeAnswer } },
      handle: async ({ caller, body, reply }) => {
        const draft = parseDraft(body)
        const { code: _, ...details } = body
        const created = await audit.run(
          { actor: caller, action: 'promo_code.create', target: target(null), details },
          () => promoCodes.create(draft),
        )
        reply.code(201)
        return codeToWire(created)
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/admin/promo-codes/:id',
      access: ofGateway('gateway.read'),
      summary: 'Read a promo code',
      params: CodeParams,
      responses: { 200: { description: 'The code.', schema: CodeAnswer } },
      handle: async ({ params }) => codeToWire(await promoCodes.read(params.id)),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/admin/promo-codes/:id/disable',
      access: ofGateway('gateway.manage'),
      summary: 'Disable a promo code',
      params: CodeParams,
      responses: { 200: { description: 'Nobody can redeem it from now on.', schema: CodeAnswer } },
      handle: async ({ caller, params }) =>
        codeToWire(
          await audit.run({ actor: caller, action: 'promo_code.disable', target: target(params.id) }, () =>
            promoCodes.disable(params.id),
          ),
        ),
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/admin/promo-codes/:id/redemptions',
      access: ofGateway('gateway.read'),
      summary: 'List who redeemed a promo code',
      params: CodeParams,
      query: ListQuery,
      responses: {
        200: { description: 'Newest first.', schema: listSchema('redemptions', RedemptionAnswer) },
      },
      handle: async ({ params, query }) =>
        listAnswer(
          'redemptions',
          await promoCodes.listRedemptions(params.id, parsePageRequest(query)),
          redemptionToWire,
        ),
    }),
  ]
}

function parseDraft(body: Static<typeof CodeCreateBody>): Parameters<PromoCodes['create']>[0] {
  const { expires_at: expiresAt = null } = body
  return {
    code: body.code ?? null,
    amountNanoUsd: parseUsd('amount_usd', body.amount_usd),
    creditDays: body.credit_expires_in_days ?? null,
    expiresAtMs: expiresAt === null ? null : parseTimestamp('expires_at', expiresAt),
    redemptionsMax: body.redemptions_max ?? null,
    redemptionsPerAccountMax: body.redemptions_per_account_max ?? 1,
  }
}

function codeToWire(code: PromoCode): Static<typeof CodeAnswer> {
  return {
    id: code.id,
    object: 'promo_code',
    code: code.code,
    amount_usd: usdFromNanoUsd(code.amountNanoUsd),
    class: 'promotional',
    expires_at: code.expiresAtMs === null ? null : toTimestamp(code.expiresAtMs),
    credit_expires_in_days: code.creditDays,
    redemptions_max: code.redemptionsMax,
    redemptions_per_account_max: code.redemptionsPerAccountMax,
    redemptions: code.redemptions,
    disabled_at: code.disabledAtMs === null ? null : toTimestamp(code.disabledAtMs),
    created_at: toTimestamp(code.createdAtMs),
  }
}

function redemptionToWire(redemption: RedemptionRecord): Static<typeof RedemptionAnswer> {
  return {
    id: redemption.id,
    account_id: redemption.accountId,
    account_name: redemption.accountName,
    amount_usd: usdFromNanoUsd(redemption.amountNanoUsd),
    redeemed_at: toTimestamp(redemption.redeemedAtMs),
  }
}
