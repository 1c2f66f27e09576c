import { Type } from 'typebox'
import type { NanoUsd } from '../../../kernel/money.ts'
import { USD_MAX } from '../../parameters/parse-usd.ts'

const CENTS_PER_USD = 100
const NANO_USD_PER_CENT = 10_000_000n

/** The members of an amount by month, as OpenAI writes it. */
export const SpendAmount = {
  threshold_amount: Type.Integer({
    minimum: 0,
    maximum: USD_MAX * CENTS_PER_USD,
    description: 'The amount in cents.',
  }),
  currency: Type.Literal('USD', { description: 'Always `USD`.' }),
  interval: Type.Literal('month', { description: 'Always `month`, in UTC.' }),
}

export function nanoUsdFromCents(cents: number): NanoUsd {
  return BigInt(cents) * NANO_USD_PER_CENT
}

/** Rounds up, so that a limit below a cent is not shown as nothing. */
export function centsFromNanoUsd(amount: NanoUsd): number {
  return Number((amount + NANO_USD_PER_CENT - 1n) / NANO_USD_PER_CENT)
}
