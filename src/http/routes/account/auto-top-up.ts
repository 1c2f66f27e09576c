import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { AutoTopUp, AutoTopUps } from '../../../modules/billing/billing.ts'
import { orNull } from '../../../wires/nullable.ts'
import { AccountId, objectName } from '../../../wires/usual-members.ts'
import { baseUrlOf } from '../../parameters/base-url-of.ts'
import { parseUsd, USD_MAX } from '../../parameters/parse-usd.ts'
import { inAccount } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const RETURN_URL_MAX = 2048

const CardAnswer = Type.Object(
  {
    brand: Type.String({ description: 'As the payment provider calls it.' }),
    last4: Type.String({ description: 'The last four digits.' }),
    expires: orNull(Type.String(), 'The last month in which it is valid: `2030-11`.'),
    saved_at: Type.String({ format: 'date-time', description: 'When it was saved.' }),
  },
  { title: 'SavedCard' },
)

const nullableUsd = (description: string) => orNull(Type.Number(), description)

const AutoTopUpAnswer = Type.Object(
  {
    object: objectName('auto_top_up'),
    tenant_id: AccountId,
    enabled: Type.Boolean({ description: 'Whether the card is charged when the balance is low.' }),
    threshold_usd: nullableUsd('A balance below it is topped up. `null` until it is set.'),
    amount_usd: nullableUsd('What one top-up buys. `null` until it is set.'),
    monthly_ceiling_usd: nullableUsd(
      'What top-ups may cost in a month of UTC, also those that are refunded. `null` until it is set.',
    ),
    spent_this_month_usd: Type.Number({ description: 'What top-ups cost in this month of UTC.' }),
    month_ends_at: Type.String({ format: 'date-time', description: 'When the next month begins, in UTC.' }),
    charging: Type.Boolean({ description: 'Whether a top-up is being charged now.' }),
    failures: Type.Integer({
      description: 'How often the card could not be charged since the last success.',
    }),
    problem: orNull(
      Type.String(),
      'Why the last charge failed, as the payment provider calls it; `refunded` or `disputed` if money was returned. `null` without a failure.',
    ),
    next_try_at: orNull(
      Type.String({ format: 'date-time' }),
      'Not charged before this time. `null` for no pause.',
    ),
    card: orNull(CardAnswer, 'The saved card. `null` if there is none.'),
  },
  { title: 'AutoTopUp' },
)

// Unknown members are refused, so that a misspelt ceiling is not ignored.
const AutoTopUpBody = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ description: 'Needs a saved card and the three amounts.' })),
    threshold_usd: Type.Optional(
      Type.Number({ minimum: 0, maximum: USD_MAX, description: 'In whole cents, at least 1.' }),
    ),
    amount_usd: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: USD_MAX,
        description: 'In whole cents, at least the threshold and at most 10,000.',
      }),
    ),
    monthly_ceiling_usd: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: USD_MAX,
        description: 'In whole cents, at least the amount and at most 100,000.',
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ threshold_usd: 10, amount_usd: 50, monthly_ceiling_usd: 500 }],
  },
)

const SetupBody = Type.Object({
  success_url: Type.Optional(
    Type.String({ maxLength: RETURN_URL_MAX, description: 'Where to go after saving.' }),
  ),
  cancel_url: Type.Optional(
    Type.String({ maxLength: RETURN_URL_MAX, description: 'Where to go after giving up.' }),
  ),
})

const SetupAnswer = Type.Object({
  object: objectName('saved_card.setup'),
  url: Type.String({
    description: 'The page of the payment provider to save a card at. Who has it may save a card.',
  }),
  expires_at: Type.String({ format: 'date-time', description: 'When the page stops being valid.' }),
})

interface Options {
  readonly autoTopUps: AutoTopUps
  /** The public URL of the gateway. If it is null, the URL of the request is used. */
  readonly publicUrl: string | null
}

/** The automatic top-up of the account, and the card that it charges. */
export const autoTopUpRoutes = ({ autoTopUps, publicUrl }: Options): Route[] => {
  const shared = { tag: 'Payments', access: inAccount('billing.manage') } as const
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/payments/auto-top-up',
      summary: 'Read the automatic top-up',
      responses: { 200: { description: 'Its amounts, its card and its state.', schema: AutoTopUpAnswer } },
      handle: async ({ caller: { accountId } }) => toWire(accountId, await autoTopUps.read(accountId)),
    }),
    defineRoute({
      ...shared,
      method: 'PATCH',
      path: '/v1/payments/auto-top-up',
      otherErrors: [409],
      needsConfirmation: true,
      summary: 'Set the automatic top-up',
      body: AutoTopUpBody,
      responses: { 200: { description: 'As it now is.', schema: AutoTopUpAnswer } },
      handle: async ({ caller, body }) =>
        toWire(caller.accountId, await autoTopUps.change(caller, changesOf(body))),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/payments/saved-card',
      otherErrors: [502],
      summary: 'Save a card',
      body: SetupBody,
      responses: { 201: { description: 'A page to save a card at.', schema: SetupAnswer } },
      handle: async ({ caller, body, reply, headers }) => {
        const { url, expiresAtMs } = await autoTopUps.startSetup({
          actor: caller,
          baseUrl: publicUrl?.replace(/\/$/, '') ?? baseUrlOf(headers),
          successUrl: body.success_url ?? null,
          cancelUrl: body.cancel_url ?? null,
        })
        reply.code(201)
        return { object: 'saved_card.setup', url, expires_at: toTimestamp(expiresAtMs) }
      },
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/v1/payments/saved-card',
      summary: 'Remove the saved card',
      responses: {
        200: {
          description: 'The automatic top-up without a card, which is off.',
          schema: AutoTopUpAnswer,
        },
      },
      handle: async ({ caller }) => {
        await autoTopUps.removeCard(caller)
        return toWire(caller.accountId, await autoTopUps.read(caller.accountId))
      },
    }),
  ]
}

function changesOf(body: Static<typeof AutoTopUpBody>): Parameters<AutoTopUps['change']>[1] {
  const { enabled, threshold_usd: threshold, amount_usd: amount, monthly_ceiling_usd: ceiling } = body
  return {
    ...(enabled !== undefined && { isEnabled: enabled }),
    ...(threshold !== undefined && { thresholdNanoUsd: parseUsd('threshold_usd', threshold) }),
    ...(amount !== undefined && { amountNanoUsd: parseUsd('amount_usd', amount) }),
    ...(ceiling !== undefined && { ceilingNanoUsd: parseUsd('monthly_ceiling_usd', ceiling) }),
  }
}

function toWire(accountId: string, topUp: AutoTopUp): Static<typeof AutoTopUpAnswer> {
  const { rules, card, nextTryAtMs } = topUp
  return {
    object: 'auto_top_up',
    tenant_id: accountId,
    enabled: topUp.isEnabled,
    threshold_usd: rules && usdFromNanoUsd(rules.thresholdNanoUsd),
    amount_usd: rules && usdFromNanoUsd(rules.amountNanoUsd),
    monthly_ceiling_usd: rules && usdFromNanoUsd(rules.ceilingNanoUsd),
    spent_this_month_usd: usdFromNanoUsd(topUp.monthNanoUsd),
    month_ends_at: toTimestamp(topUp.monthEndsAtMs),
    charging: topUp.isBeingCharged,
    failures: topUp.failures,
    problem: topUp.problem,
    next_try_at: nextTryAtMs === null ? null : toTimestamp(nextTryAtMs),
    card: card && {
      brand: card.brand,
      last4: card.last4,
      expires: expiryOf(card),
      saved_at: toTimestamp(card.savedAtMs),
    },
  }
}

function expiryOf({ expiryMonth, expiryYear }: NonNullable<AutoTopUp['card']>): string | null {
  if (expiryMonth === null || expiryYear === null) return null
  return `${expiryYear}-${String(expiryMonth).padStart(2, '0')}`
}
