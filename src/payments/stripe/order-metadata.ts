import type { CheckoutOrder, PaymentReport } from '../payment-provider.ts'

/**
 * Metadata that identifies the payment and account of a Stripe object. Prefixed, because others may use the same Stripe account.
 */
const PAYMENT_ID = 'parkway_payment_id'
const ACCOUNT_ID = 'parkway_account_id'

export function metadataOf({ paymentId, accountId }: CheckoutOrder): Record<string, string> {
  return { [PAYMENT_ID]: paymentId, [ACCOUNT_ID]: accountId }
}

export function readOrderMetadata(
  metadata: Readonly<Record<string, string>> | null | undefined,
): Pick<PaymentReport, 'paymentId' | 'accountId'> {
  return { paymentId: metadata?.[PAYMENT_ID] ?? null, accountId: metadata?.[ACCOUNT_ID] ?? null }
}
