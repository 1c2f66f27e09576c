import { Type, type Static, type TProperties } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import { nanoUsdFromUsd, usdFromNanoUsd } from '../../../kernel/money.ts'
import type { KeyLimits } from '../../../providers/connection/key-limits.ts'
import { orNull } from '../../../wires/nullable.ts'

const PER_MINUTE_MAX = 1_000_000_000

const perMinute = (unit: string) =>
  Type.Optional(
    orNull(
      Type.Integer({ minimum: 1, maximum: PER_MINUTE_MAX }),
      `How many ${unit} a minute this key gets, over all processes. Null: no limit.`,
    ),
  )

/** The limits of one key. */
export const KeyLimitMembers = {
  requests_per_minute: perMinute('requests'),
  tokens_per_minute: perMinute('tokens, read and written,'),
  budget_usd_per_day: Type.Optional(
    orNull(
      Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 }),
      'For how many dollars a day (UTC) requests get this key, by the cost of the route, or by the price if that is unknown. Null: no limit.',
    ),
  ),
} satisfies TProperties

const KeyLimitBody = Type.Object(KeyLimitMembers)
type KeyLimitBody = Static<typeof KeyLimitBody>

/** Returns what the body names. Null removes a limit. */
export function readKeyLimits(body: KeyLimitBody, param: string): Partial<KeyLimits> {
  const { requests_per_minute: requests, tokens_per_minute: tokens, budget_usd_per_day: budget } = body
  return {
    ...(requests !== undefined && { requestsPerMinute: requests }),
    ...(tokens !== undefined && { tokensPerMinute: tokens }),
    ...(budget !== undefined && { budgetNanoUsdPerDay: readBudget(budget, `${param}.budget_usd_per_day`) }),
  }
}

function readBudget(usd: number | null, param: string): bigint | null {
  if (usd === null) return null
  try {
    return nanoUsdFromUsd(usd)
  } catch {
    throw invalidValue(param, 'An amount of dollars has at most nine decimals.')
  }
}

/** Null for each limit that the key does not have. */
export function keyLimitsToWire({ requestsPerMinute, tokensPerMinute, budgetNanoUsdPerDay }: KeyLimits) {
  return {
    requests_per_minute: requestsPerMinute,
    tokens_per_minute: tokensPerMinute,
    budget_usd_per_day: budgetNanoUsdPerDay === null ? null : usdFromNanoUsd(budgetNanoUsdPerDay),
  }
}
