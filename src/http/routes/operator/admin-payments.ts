import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import {
  NO_FILTER,
  PAYMENT_KINDS,
  PAYMENT_STATUSES,
  type AccountPayment,
  type Billing,
  type PaymentFilter,
} from '../../../modules/billing/billing.ts'
import { AccountId, SHOWN_LINE } from '../../../wires/usual-members.ts'
import { sendCsv } from '../../answers/send-csv.ts'
import { listAnswer, ListQuery, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { parseUsd, USD_MAX } from '../../parameters/parse-usd.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { PaymentFormat, PAYMENTS_CSV, writePaymentsCsv } from '../account/payment-csv.ts'
import { PaymentAnswer, paymentToWire } from '../account/payment-wire.ts'
import { readOperatorKey } from './read-operator-key.ts'

const AccountParams = Type.Object({ id: Type.String({ description: 'The id of an account.' }) })
const PaymentParams = Type.Object({ id: Type.String({ description: 'The id of a payment.' }) })

const PaymentsQuery = Type.Object({
  ...ListQuery.properties,
  ...PaymentFormat.properties,
  account_id: Type.Optional(
    Type.String({ maxLength: 64, description: 'The id of an account: only its payments.' }),
  ),
  kind: Type.Optional(Type.Enum([...PAYMENT_KINDS], { description: 'Only payments of this kind.' })),
  status: Type.Optional(Type.Enum([...PAYMENT_STATUSES], { description: 'Only payments of this status.' })),
  since: Type.Optional(
    Type.String({ maxLength: 64, description: 'Only payments made at this time or later, RFC 3339.' }),
  ),
  until: Type.Optional(
    Type.String({ maxLength: 64, description: 'Only payments made before this time, RFC 3339.' }),
  ),
})

const AccountPaymentAnswer = Type.Object(
  {
    ...PaymentAnswer.properties,
    account_id: AccountId,
    account_name: Type.String({ description: 'The name of the account.' }),
  },
  { title: 'AccountPayment' },
)

// Unknown members are refused, so that a misspelt limit is not ignored.
const RefundBody = Type.Object(
  {
    amount_usd: Type.Optional(
      Type.Number({ minimum: 0, maximum: USD_MAX, description: 'What is left of the payment when absent.' }),
    ),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        pattern: SHOWN_LINE,
        description:
          'Why, in words. It is with the refund, where the account reads it, and in the audit logs of the gateway and of the account.',
      }),
    ),
  },
  { additionalProperties: false },
)

interface AdminPaymentModules {
  readonly accounts: Pick<Accounts, 'read'>
  readonly billing: Pick<Billing, 'list' | 'listAll' | 'walkAll' | 'refund'>
  readonly audit: Audit
  readonly logger: Logger
}

const shared = { tag: 'Operator' } as const

/** Operator routes for payments, of one account and of all. */
export const adminPaymentRoutes = ({ accounts, billing, audit, logger }: AdminPaymentModules): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/admin/payments',
    access: ofGateway('gateway.read'),
    summary: 'List the payments of all accounts',
    query: PaymentsQuery,
    responses: {
      200: {
        description: 'Newest first.',
        schema: listSchema('payments', AccountPaymentAnswer),
        ...PAYMENTS_CSV,
      },
    },
    handle: async ({ query, reply, exchange }) => {
      const filter = parseFilter(query)
      if (query.format === 'csv') {
        const pieces = writePaymentsCsv(billing.walkAll(filter), { hasAccounts: true })
        return sendCsv(reply, { name: 'payments.csv', pieces, logger, cancellation: exchange.cancellation })
      }
      const page = parsePageRequest(query)
      return listAnswer('payments', await billing.listAll(filter, page), accountPaymentToWire)
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/admin/accounts/:id/payments',
    access: ofGateway('gateway.read'),
    summary: 'List the payments of an account',
    params: AccountParams,
    query: Type.Object({ ...ListQuery.properties, ...PaymentFormat.properties }),
    responses: {
      200: {
        description: 'Newest first.',
        schema: listSchema('payments', PaymentAnswer),
        ...PAYMENTS_CSV,
      },
    },
    handle: async ({ params, query, reply, exchange }) => {
      const page = parsePageRequest(query)
      const { id: accountId } = await accounts.read(params.id)
      if (query.format === 'csv') {
        const pieces = writePaymentsCsv(billing.walkAll({ ...NO_FILTER, accountId }), { hasAccounts: false })
        return sendCsv(reply, { name: 'payments.csv', pieces, logger, cancellation: exchange.cancellation })
      }
      return listAnswer('payments', await billing.list(accountId, page), paymentToWire)
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/admin/payments/:id/refund',
    access: ofGateway('gateway.manage'),
    needsConfirmation: true,
    summary: 'Refund a payment',
    params: PaymentParams,
    body: RefundBody,
    responses: {
      200: { description: 'The money goes back and the credit is gone.', schema: PaymentAnswer },
    },
    handle: async ({ caller, params, body, headers }) => {
      const amountNanoUsd = body.amount_usd === undefined ? null : parseUsd('amount_usd', body.amount_usd)
      const idempotencyKey = readOperatorKey(caller.accountId, headers)
      const target = { kind: 'payment', id: params.id }
      const payment = await audit.run(
        { actor: caller, action: 'payment.refund', target, details: body },
        () =>
          billing.refund({
            paymentId: params.id,
            amountNanoUsd,
            reason: body.reason ?? null,
            idempotencyKey,
            operator: caller,
          }),
      )
      return paymentToWire(payment)
    },
  }),
]

function parseFilter(query: Static<typeof PaymentsQuery>): PaymentFilter {
  const { account_id: accountId, since, until } = query
  if (accountId !== undefined && !isUuid(accountId))
    throw invalidValue('account_id', 'account_id must be the id of an account.')
  const sinceMs = since === undefined ? null : parseTimestamp('since', since)
  const untilMs = until === undefined ? null : parseTimestamp('until', until)
  if (sinceMs !== null && untilMs !== null && sinceMs >= untilMs)
    throw invalidValue('since', 'since must be earlier than until.')
  return {
    accountId: accountId ?? null,
    kind: query.kind ?? null,
    status: query.status ?? null,
    sinceMs,
    untilMs,
  }
}

function accountPaymentToWire(payment: AccountPayment): Static<typeof AccountPaymentAnswer> {
  return {
    ...paymentToWire(payment),
    account_id: payment.accountId,
    account_name: payment.accountName,
  }
}
