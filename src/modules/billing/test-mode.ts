import type { Clock } from '../../kernel/clock.ts'
import type { PaymentProvider } from '../../payments/payment-provider.ts'
import type { Queryable } from '../../storage/database.ts'

/**
 * Where keys of production exist, credit that nobody paid for would be spent on real models. The gateway's own test page is
 * refused there unless the operator says otherwise.
 */
export async function findTestModeProblem(
  { database, clock, allowsTestCheckout }: { database: Queryable; clock: Clock; allowsTestCheckout: boolean },
  provider: PaymentProvider,
): Promise<string | null> {
  if (provider.sessionOfToken === undefined || allowsTestCheckout) return null
  const [key] = await database.query(
    `SELECT 1 FROM api_keys WHERE environment IN ('live', 'prod') AND revoked_at IS NULL
       AND (expires_at IS NULL OR expires_at > $1) LIMIT 1`,
    [new Date(clock.nowMs())],
  )
  return key === undefined ? null : PROBLEM
}

const PROBLEM =
  'No payment provider is configured, and the test checkout is refused where live or prod keys exist.'
