import { AppError } from '../../kernel/app-error.ts'

const RETRY_AFTER_SECONDS = 5

/**
 * A refusal is final and says `provider_error`; after anything else nobody knows whether Stripe acted, and the request may
 * be repeated. What Stripe said goes to the log alone.
 */
export async function toPaymentError(error: unknown): Promise<unknown> {
  if (error instanceof AppError) return error
  const { default: StripeClient } = await import('stripe')
  if (!(error instanceof StripeClient.errors.StripeError)) return error
  const status = error.statusCode ?? 0
  if (status >= 400 && status < 500 && status !== 409 && status !== 429) {
    return new AppError('provider_error', 'The payment provider refused the request.', { cause: error })
  }
  return new AppError('service_unavailable', 'The payment provider does not answer at the moment.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: error,
  })
}
