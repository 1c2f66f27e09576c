import type { Clock } from '../../kernel/clock.ts'
import type { PaymentProvider } from '../../payments/payment-provider.ts'
import type { Queryable } from '../../storage/database.ts'

export interface TestModeRules {
  /** The operator deliberately gives credit away. */
  readonly allowsTestCheckout: boolean
  /** Real providers serve requests, so credit costs the operator money. */
  readonly servesRealModels: () => Promise<boolean>
}

/**
 * Returns why a payment in test mode is refused, or null. Unpaid credit must not be spent on real models. So test mode works only
 * if no real provider is configured and no live or prod key exists, unless the operator allows it.
 */
export async function findTestModeProblem(
  {
    database,
    clock,
    allowsTestCheckout,
    servesRealModels,
  }: TestModeRules & { database: Queryable; clock: Clock },
  provider: PaymentProvider,
): Promise<string | null> {
  if (!provider.isTestMode || allowsTestCheckout) return null
  if (await servesRealModels()) return REAL_MODELS
  const [key] = await database.query(
    `SELECT 1 FROM api_keys WHERE environment IN ('live', 'prod') AND revoked_at IS NULL
       AND (expires_at IS NULL OR expires_at > $1) LIMIT 1`,
    [new Date(clock.nowMs())],
  )
  return key === undefined ? null : PRODUCTION_KEYS
}

const ADVICE =
  'Configure Stripe with a live key, or set PARKWAY_ALLOW_TEST_CHECKOUT=true to give credit away.'
const REAL_MODELS = `Payments in test mode are off because a model provider is configured. ${ADVICE}`
const PRODUCTION_KEYS = `Payments in test mode are off where live or prod keys exist. ${ADVICE}`
