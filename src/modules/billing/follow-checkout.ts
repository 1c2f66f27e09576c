import { AppError } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import {
  EMPTY_REPORT,
  type PaymentProvider,
  type PaymentReport,
  type Webhook,
} from '../../payments/payment-provider.ts'
import type { Queryable } from '../../storage/database.ts'
import { applyReport, type ReportContext } from './apply-report.ts'
import { findCheckout, writeProviderIds, type CheckoutRecord } from './checkout-record.ts'
import { failCheckout, openAtProvider } from './create-checkout.ts'

interface WebhookContext extends ReportContext {
  /** Reads what has become of a page to save a card. Returns whether it is one of this gateway. */
  readonly followSetup: (provider: PaymentProvider, sessionId: string) => Promise<boolean>
}

/** Processes a provider's webhook. Returns whether it was about a payment of this gateway. */
export async function receiveWebhook(
  context: WebhookContext,
  provider: PaymentProvider,
  webhook: Webhook,
): Promise<boolean> {
  const { report: told, eventId, type, setupSessionId } = await provider.readWebhook(webhook)
  if (setupSessionId !== null) return context.followSetup(provider, setupSessionId)
  if (told === null) return false
  const known = await findReported(context.database, provider.name, told)
  const report = isWhole(told, known) ? told : await completeReport(provider, told)
  const checkout = known ?? (await findReported(context.database, provider.name, report))
  if (checkout === null) return false
  await applyReport(context, checkout, report, { id: eventId, type })
  return true
}

/** Asks the provider for the state of a checkout and applies the answer. */
export async function askProvider(
  context: ReportContext,
  provider: PaymentProvider,
  checkout: CheckoutRecord,
): Promise<void> {
  if (provider.sessionOfToken !== undefined) {
    if (checkout.expiresAtMs <= context.clock.nowMs()) {
      await applyReport(context, checkout, { ...EMPTY_REPORT, state: 'expired' })
    }
    return
  }
  const sessionId = checkout.sessionId ?? (await recoverSession(context, provider, checkout))
  if (sessionId !== null) await applyReport(context, checkout, await provider.readCheckout(sessionId))
}

/** The provider's response was not stored, because the process died or the connection failed. Requests the same page again. */
async function recoverSession(
  { database }: ReportContext,
  provider: PaymentProvider,
  checkout: CheckoutRecord,
): Promise<string | null> {
  try {
    const { sessionId } = await openAtProvider(provider, checkout)
    await writeProviderIds(database, checkout.payment.id, { sessionId, providerPaymentId: null })
    return sessionId
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'provider_error') throw error
    await failCheckout(database, checkout.payment.id)
    return null
  }
}

// A webhook about a refund may arrive before the one about the payment, and does not contain its account.
function isWhole(report: PaymentReport, known: CheckoutRecord | null): boolean {
  if (report.reversals.length === 0 || report.state === 'paid') return true
  return known !== null && known.payment.completedAtMs !== null
}

async function completeReport(provider: PaymentProvider, told: PaymentReport): Promise<PaymentReport> {
  if (told.providerPaymentId === null) return told
  return { ...(await provider.readPayment(told.providerPaymentId)), reversals: told.reversals }
}

async function findReported(
  queryable: Queryable,
  provider: string,
  { paymentId, sessionId, providerPaymentId }: PaymentReport,
): Promise<CheckoutRecord | null> {
  if (paymentId !== null && isUuid(paymentId)) return findCheckout(queryable, provider, { paymentId })
  if (sessionId !== null) {
    const found = await findCheckout(queryable, provider, { sessionId })
    if (found !== null) return found
  }
  return providerPaymentId === null ? null : findCheckout(queryable, provider, { providerPaymentId })
}
