import { Type } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Logger } from '../../../kernel/logger.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import { NO_FILTER, type Billing } from '../../../modules/billing/billing.ts'
import { UuidId, objectName } from '../../../wires/usual-members.ts'
import { baseUrlOf } from '../../parameters/base-url-of.ts'
import { sendCsv } from '../../answers/send-csv.ts'
import { listAnswer, ListQuery, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { parseUsd, USD_MAX } from '../../parameters/parse-usd.ts'
import { ANY_KEY, inAccount, NO_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { PaymentFormat, PAYMENTS_CSV, writePaymentsCsv } from './payment-csv.ts'
import { PaymentAnswer, paymentToWire } from './payment-wire.ts'

const PRESETS_USD = [5, 20, 50, 100, 500]
const WEBHOOK_BYTES_MAX = 256 * 1024
const RETURN_URL_MAX = 2048

const ConfigAnswer = Type.Object({
  provider: Type.String({ description: 'The payment provider.' }),
  currency: Type.Literal('usd'),
  presets_usd: Type.Array(Type.Number(), { description: 'Amounts to offer.' }),
  min_usd: Type.Number({ description: 'The smallest amount.' }),
  max_usd: Type.Number({ description: 'The largest amount.' }),
  publishable_key: Type.Optional(
    Type.String({
      description: 'The public key of the payment provider, for its scripts. Absent where none is needed.',
    }),
  ),
  test_mode: Type.Boolean({ description: 'No money moves.' }),
  available: Type.Boolean({ description: 'Whether a checkout can be started.' }),
  unavailable_reason: Type.Union([Type.String(), Type.Null()], {
    description: 'Why nothing can be bought. `null` when it can.',
  }),
})

const CheckoutBody = Type.Object({
  amount_usd: Type.Number({ minimum: 0, maximum: USD_MAX, description: 'In whole cents.' }),
  success_url: Type.Optional(
    Type.String({ maxLength: RETURN_URL_MAX, description: 'Where to go after paying.' }),
  ),
  cancel_url: Type.Optional(
    Type.String({ maxLength: RETURN_URL_MAX, description: 'Where to go after giving up.' }),
  ),
})

const CheckoutAnswer = Type.Object({
  id: UuidId,
  object: objectName('checkout'),
  checkout_url: Type.String({ description: 'The page to pay at. Who has it may pay.' }),
  url: Type.String({ description: 'The same.' }),
  amount_usd: Type.Number({ description: 'The amount in US dollars.' }),
  status: Type.Literal('pending', { description: 'The state it is in.' }),
  expires_at: Type.String({ format: 'date-time', description: 'When it stops being valid. `null`: never.' }),
})

const PaymentParams = Type.Object({ id: Type.String({ description: 'The id of a payment.' }) })
const ProviderParams = Type.Object({
  provider: Type.String({ maxLength: 50, description: 'The name of a payment provider.' }),
})

interface PaymentRoutesOptions {
  readonly billing: Billing
  /** The public URL of the gateway. If it is null, the URL of the request is used. */
  readonly publicUrl: string | null
  readonly logger: Logger
}

export const paymentRoutes = ({ billing, publicUrl, logger }: PaymentRoutesOptions): Route[] => {
  const shared = { tag: 'Payments' } as const

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/payments/config',
      access: ANY_KEY,
      summary: 'How credit can be bought',
      responses: { 200: { description: 'The payment provider and its limits.', schema: ConfigAnswer } },
      handle: async () => {
        const offer = await billing.describeOffer()
        return {
          provider: offer.provider,
          currency: 'usd',
          presets_usd: PRESETS_USD,
          min_usd: usdFromNanoUsd(offer.minNanoUsd),
          max_usd: usdFromNanoUsd(offer.maxNanoUsd),
          ...(offer.publishableKey !== null && { publishable_key: offer.publishableKey }),
          test_mode: offer.isTestMode,
          available: offer.problem === null,
          unavailable_reason: offer.problem,
        }
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/payments/checkout',
      access: inAccount('billing.manage'),
      otherErrors: [502],
      summary: 'Start a checkout',
      body: CheckoutBody,
      responses: { 201: { description: 'A page to pay at.', schema: CheckoutAnswer } },
      handle: async ({ caller, body, reply, headers }) => {
        const { payment, url, expiresAtMs } = await billing.checkout({
          accountId: caller.accountId,
          amountNanoUsd: parseUsd('amount_usd', body.amount_usd),
          baseUrl: publicUrl?.replace(/\/$/, '') ?? baseUrlOf(headers),
          successUrl: body.success_url ?? null,
          cancelUrl: body.cancel_url ?? null,
        })
        reply.code(201)
        return {
          id: payment.id,
          object: 'checkout',
          checkout_url: url,
          url,
          amount_usd: usdFromNanoUsd(payment.amountNanoUsd),
          status: 'pending',
          expires_at: toTimestamp(expiresAtMs),
        }
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/payments/history',
      access: inAccount('billing.manage'),
      summary: 'List payments',
      query: Type.Object({ ...ListQuery.properties, ...PaymentFormat.properties }),
      responses: {
        200: {
          description: 'What was bought, redeemed, adjusted and taken back, newest first.',
          schema: listSchema('payments', PaymentAnswer),
          ...PAYMENTS_CSV,
        },
      },
      handle: async ({ caller: { accountId }, query, reply, exchange }) => {
        if (query.format === 'csv') {
          const pieces = writePaymentsCsv(billing.walkAll({ ...NO_FILTER, accountId }), {
            hasAccounts: false,
          })
          return sendCsv(reply, { name: 'payments.csv', pieces, logger, cancellation: exchange.cancellation })
        }
        const page = await billing.list(accountId, parsePageRequest(query))
        return listAnswer('payments', page, paymentToWire)
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/payments/:id',
      access: inAccount('billing.manage'),
      otherErrors: [502],
      summary: 'Read a payment',
      params: PaymentParams,
      responses: {
        200: {
          description: 'The payment. An open one is looked up at its provider first.',
          schema: PaymentAnswer,
        },
      },
      handle: async ({ caller, params }) => paymentToWire(await billing.read(caller.accountId, params.id)),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/payments/webhook/:provider',
      access: NO_KEY,
      summary: 'For the payment provider: tell what happened',
      params: ProviderParams,
      takesRawBody: true,
      bodyLimitBytes: WEBHOOK_BYTES_MAX,
      otherErrors: [409, 413, 415, 503],
      responses: {
        200: {
          description: 'Acted on. Anything else makes the provider tell again.',
          schema: Type.Object({ received: Type.Literal(true) }),
        },
      },
      handle: async ({ params, rawBody, headers }) => {
        await billing.receiveWebhook(params.provider, { body: rawBody, headers })
        return { received: true }
      },
    }),
  ]
}
