import { Type } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { PromoCodes } from '../../../modules/billing/billing.ts'
import { inAccount } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const RedeemBody = Type.Object({
  // Control characters are refused, because PostgreSQL cannot store NUL.
  code: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    description: 'The code to redeem, without control characters.',
  }),
})

const RedeemAnswer = Type.Object({
  code: Type.String({ description: 'The code that was redeemed.' }),
  amount_usd: Type.Number({ description: 'The amount in US dollars.' }),
  balance_usd: Type.Number({ description: 'The balance of the account in US dollars.' }),
  redeemed_at: Type.String({ format: 'date-time', description: 'When the code was redeemed.' }),
})

export const promoRoutes = ({ promoCodes }: { promoCodes: PromoCodes }): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/v1/promo/redeem',
    summary: 'Redeem a promo code',
    tag: 'Payments',
    access: inAccount('billing.manage'),
    body: RedeemBody,
    responses: { 200: { description: 'The credit is on the account.', schema: RedeemAnswer } },
    handle: async ({ caller, body }) => {
      const redemption = await promoCodes.redeem(caller, body.code)
      return {
        code: redemption.code,
        amount_usd: usdFromNanoUsd(redemption.amountNanoUsd),
        balance_usd: usdFromNanoUsd(redemption.balanceNanoUsd),
        redeemed_at: toTimestamp(redemption.redeemedAtMs),
      }
    },
  }),
]
