import type { PaymentReport } from '../payment-provider.ts'
import type { SetupOrder, SetupReport } from '../saved-methods.ts'

/**
 * Metadata that identifies the payment and account of a Stripe object. Prefixed, because others may use the same Stripe account.
 */
const PAYMENT_ID = 'parkway_payment_id'
const ACCOUNT_ID = 'parkway_account_id'
const SETUP_ID = 'parkway_setup_id'

export function metadataOf({
  paymentId,
  accountId,
}: {
  readonly paymentId: string
  readonly accountId: string
}): Record<string, string> {
  return { [PAYMENT_ID]: paymentId, [ACCOUNT_ID]: accountId }
}

export function readOrderMetadata(
  metadata: Readonly<Record<string, string>> | null | undefined,
): Pick<PaymentReport, 'paymentId' | 'accountId'> {
  return { paymentId: metadata?.[PAYMENT_ID] ?? null, accountId: metadata?.[ACCOUNT_ID] ?? null }
}

export function setupMetadataOf({ setupId, accountId }: SetupOrder): Record<string, string> {
  return { [SETUP_ID]: setupId, [ACCOUNT_ID]: accountId }
}

export function readSetupMetadata(
  metadata: Readonly<Record<string, string>> | null | undefined,
): Pick<SetupReport, 'setupId' | 'accountId'> {
  return { setupId: metadata?.[SETUP_ID] ?? null, accountId: metadata?.[ACCOUNT_ID] ?? null }
}
