import { AppError, notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { PaymentProvider, Webhook } from '../../payments/payment-provider.ts'
import type { Database } from '../../storage/database.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { adjustCredit, type Adjustment } from './adjust-credit.ts'
import { createAutoTopUps, type AutoTopUps } from './auto-top-up/auto-top-up.ts'
import type { NoticeContext } from './auto-top-up/write-notice.ts'
import { claimCheckout, findCheckout, type CheckoutRecord } from './checkout-record.ts'
import {
  CHECKOUT_NANO_USD_MAX,
  CHECKOUT_NANO_USD_MIN,
  createCheckout,
  type CheckoutRequest,
  type OpenedCheckout,
} from './create-checkout.ts'
import { askProvider, receiveWebhook } from './follow-checkout.ts'
import {
  cancelHostedCheckout,
  payHostedCheckout,
  readHostedCheckout,
  readReceipt,
  type HostedCheckout,
  type Receipt,
} from './hosted-checkout.ts'
import {
  listAllPayments,
  walkAllPayments,
  type AccountPayment,
  type PaymentFilter,
} from './list-all-payments.ts'
import { listPayments, readPayment, type Payment } from './payment-record.ts'
import { refundPayment, type RefundRequest } from './refund-payment.ts'
import { startSweep } from './sweep-checkouts.ts'
import { findTestModeProblem, type TestModeRules } from './test-mode.ts'

export type { AutoTopUp, AutoTopUps, HostedSetup } from './auto-top-up/auto-top-up.ts'
export { readNotice, sweepNotices, type Notice } from './auto-top-up/read-notice.ts'
export type { HostedCheckout, Receipt } from './hosted-checkout.ts'
export { NO_FILTER, type AccountPayment, type PaymentFilter } from './list-all-payments.ts'
export { PAYMENT_KINDS, PAYMENT_STATUSES, type Payment } from './payment-record.ts'
export type { PromoCode } from './promo-code.ts'
export type { RedemptionRecord } from './manage-promo-codes.ts'
export { createPromoCodes, type PromoCodes } from './promo-codes.ts'

interface PaymentOffer {
  readonly provider: string
  readonly isTestMode: boolean
  readonly publishableKey: string | null
  readonly minNanoUsd: NanoUsd
  readonly maxNanoUsd: NanoUsd
  /** Why payments are not possible; null if they are. */
  readonly problem: string | null
}

/** What a customer comes back from: a payment, or a page where a card is saved. */
type Returned = { readonly payment: Payment } | { readonly cardState: 'open' | 'saved' | 'expired' }

/** Buys, refunds and adjusts credit. */
export interface Billing {
  readonly autoTopUps: AutoTopUps
  describeOffer(): Promise<PaymentOffer>
  checkout(request: CheckoutRequest): Promise<OpenedCheckout>
  /** Asks the provider first if the payment is open, so that a customer sees a payment that was just made. */
  read(accountId: string, paymentId: string): Promise<Payment>
  list(accountId: string, page: PageRequest): Promise<Page<Payment>>
  /** Lists payments of all accounts, newest first. */
  listAll(filter: PaymentFilter, page: PageRequest): Promise<Page<AccountPayment>>
  /** The same in pages, to the first one. */
  walkAll(filter: PaymentFilter): AsyncIterable<readonly AccountPayment[]>
  receiveWebhook(provider: string, webhook: Webhook): Promise<void>
  /**
   * Handles the return of a customer from the provider's page. The session id is secret enough to authorise showing the payment.
   */
  completeReturn(provider: string, session: string): Promise<Returned>
  readHosted(token: string): Promise<HostedCheckout>
  /** Of a payment at the gateway's own page. Throws not found for any other, and before it is paid. */
  readReceipt(accountId: string, paymentId: string): Promise<Receipt>
  payHosted(token: string): Promise<HostedCheckout>
  cancelHosted(token: string): Promise<HostedCheckout>
  adjust(adjustment: Adjustment): Promise<Payment>
  refund(request: RefundRequest): Promise<Payment>
  close(): Promise<void>
}

export interface BillingOptions extends TestModeRules, NoticeContext {
  readonly database: Database
  readonly clock: Clock
  readonly ledger: Pick<Ledger, 'grant' | 'reverse' | 'deduct' | 'recall' | 'announceChange'>
  readonly logger: Logger
  /** The first one takes new payments. The others only handle earlier payments. */
  readonly providers: readonly [PaymentProvider, ...PaymentProvider[]]
  readonly sweepIntervalMs: number
  /** Whether saved cards are charged here. */
  readonly isCharging: boolean
}

/** Credit may be spent within seconds, so balances are looked at more often than payments. */
const LOOK_MS_MAX = 5_000
const ASK_PAUSE_MS = 2_000
const REPLACED = 'Another payment provider takes payments now. Start a new checkout.'

export function createBilling(options: BillingOptions): Billing {
  const { database, clock, logger } = options
  const [active] = options.providers
  const providers = new Map(options.providers.map((provider) => [provider.name, provider]))
  const hosted = options.providers.find(({ sessionOfToken }) => sessionOfToken !== undefined)
  const sweep = startSweep(options, { providers: options.providers, intervalMs: options.sweepIntervalMs })

  const findProblem = async (provider: PaymentProvider): Promise<string | null> =>
    provider.problem ?? (await findTestModeProblem(options, provider))

  const autoTopUps = createAutoTopUps({
    ...options,
    findProblem,
    intervalMs: Math.min(options.sweepIntervalMs, LOOK_MS_MAX),
  })
  const reporting = {
    ...options,
    followSetup: (provider: PaymentProvider, sessionId: string) => autoTopUps.follow(provider, sessionId),
  }

  const requireWorking = async (provider: PaymentProvider): Promise<void> => {
    const problem = await findProblem(provider)
    if (problem !== null) {
      throw new AppError('provider_not_configured', problem)
    }
  }

  const requireHosted = (): PaymentProvider => {
    if (hosted === undefined) throw notFound('checkout')
    return hosted
  }

  /** A page that was opened before another provider became active can be viewed, but not paid. */
  const readHosted = async (token: string): Promise<HostedCheckout> => {
    const checkout = await readHostedCheckout(options, requireHosted(), token)
    return checkout.state === 'open' && hosted !== active ? { ...checkout, state: 'expired' } : checkout
  }

  /** If the provider cannot be asked now, the sweep asks later. */
  const follow = async (provider: PaymentProvider, checkout: CheckoutRecord): Promise<void> => {
    const { id: paymentId } = checkout.payment
    const nowMs = clock.nowMs()
    if (!(await claimCheckout(database, paymentId, { nowMs, pauseMs: ASK_PAUSE_MS }))) return
    await askProvider(options, provider, checkout).catch((error: unknown) => {
      logger.warn({ err: error, paymentId }, 'the state of a payment could not be read')
    })
  }

  return {
    autoTopUps,
    describeOffer: async () => ({
      provider: active.name,
      isTestMode: active.isTestMode,
      publishableKey: active.publishableKey,
      minNanoUsd: CHECKOUT_NANO_USD_MIN,
      maxNanoUsd: CHECKOUT_NANO_USD_MAX,
      problem: await findProblem(active),
    }),
    checkout: async (request) => {
      await requireWorking(active)
      return createCheckout({ database, clock, provider: active }, request)
    },
    read: async (accountId, paymentId) => {
      const payment = await readPayment(database, paymentId, accountId)
      if (payment.status !== 'pending' && payment.status !== 'processing') return payment
      for (const provider of options.providers) {
        const checkout = await findCheckout(database, provider.name, { paymentId: payment.id })
        if (checkout !== null) await follow(provider, checkout)
      }
      return readPayment(database, payment.id, accountId)
    },
    list: (accountId, page) => listPayments(database, accountId, page),
    listAll: (filter, page) => listAllPayments(database, filter, page),
    walkAll: (filter) => walkAllPayments(database, filter),
    receiveWebhook: async (name, webhook) => {
      const provider = providers.get(name)
      if (provider === undefined) throw notFound('payment provider')
      const isOurs = await receiveWebhook(reporting, provider, webhook).catch((error: unknown) => {
        // A payment arrived for which no credit was granted, so an operator must check it.
        if (error instanceof AppError && error.code === 'conflict') {
          logger.error({ err: error, provider: name }, 'a payment does not match what was asked for')
        }
        throw error
      })
      if (!isOurs) logger.info({ provider: name }, 'a webhook was about no payment of this gateway')
    },
    completeReturn: async (name, session) => {
      const provider = providers.get(name)
      if (provider === undefined) throw notFound('checkout')
      const sessionId = provider.sessionOfToken?.(session) ?? session
      const checkout = await findCheckout(database, name, { sessionId })
      if (checkout === null) {
        const cardState = await autoTopUps.completeReturn(provider, sessionId)
        if (cardState === null) throw notFound('checkout')
        return { cardState }
      }
      if (checkout.payment.completedAtMs === null) await follow(provider, checkout)
      return { payment: await readPayment(database, checkout.payment.id, null) }
    },
    readHosted,
    readReceipt: (accountId, paymentId) => readReceipt(options, requireHosted(), { accountId, paymentId }),
    payHosted: async (token) => {
      const { state } = await readHosted(token)
      if (state === 'open') await requireWorking(requireHosted())
      else if (state === 'expired' && hosted !== active) throw new AppError('conflict', REPLACED)
      return payHostedCheckout(options, requireHosted(), token)
    },
    cancelHosted: (token) => cancelHostedCheckout(options, requireHosted(), token),
    adjust: (adjustment) => adjustCredit(options, adjustment),
    refund: (request) => refundPayment(options, providers, request),
    close: async () => {
      await Promise.all([sweep.close(), autoTopUps.close()])
    },
  }
}
