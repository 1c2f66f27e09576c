import { Type } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { formatUsd } from '../../../kernel/money.ts'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import type { Billing, Receipt } from '../../../modules/billing/billing.ts'
import type { StatementOperator } from '../../../modules/statements/statements.ts'
import { inAccount } from '../../access.ts'
import { printInThread } from '../../printed/print-in-thread.ts'
import type { PrintedDocument } from '../../printed/printed-document.ts'
import { defineRoute, type Route } from '../../route.ts'

interface ReceiptParts {
  readonly billing: Pick<Billing, 'readReceipt'>
  readonly accounts: Pick<Accounts, 'read'>
  readonly operator: StatementOperator
}

export const paymentReceiptRoutes = ({ billing, accounts, operator }: ReceiptParts): Route[] => [
  defineRoute({
    method: 'GET',
    tag: 'Payments',
    path: '/v1/payments/:id/receipt',
    access: inAccount('billing.manage'),
    summary: 'Read the receipt of a payment in test mode',
    params: Type.Object({ id: Type.String({ description: 'The id of a payment.' }) }),
    otherErrors: [404, 503],
    responses: {
      200: {
        description: 'A PDF.',
        schema: Type.String({ format: 'binary' }),
        contentType: 'application/pdf',
      },
    },
    handle: async ({ caller: { accountId }, params, reply }) => {
      const receipt = await billing.readReceipt(accountId, params.id)
      const account = await accounts.read(accountId)
      const bytes = await printInThread(printedReceipt(receipt, { account, operator }), accountId)
      reply
        .header('content-type', 'application/pdf')
        .header('content-disposition', `inline; filename="receipt-${receipt.payment.id}.pdf"`)
        .header('cache-control', 'no-store')
      return reply.send(bytes)
    },
  }),
]

interface ReceiptNames {
  readonly account: { readonly id: string; readonly name: string }
  readonly operator: StatementOperator
}

function printedReceipt(
  { payment, refundedNanoUsd }: Receipt,
  { account, operator }: ReceiptNames,
): PrintedDocument {
  const paidAt = toTimestamp(payment.completedAtMs ?? payment.createdAtMs)
  const rows = [['Prepaid credit', formatUsd(payment.amountNanoUsd)]]
  if (refundedNanoUsd > 0n)
    rows.push(
      ['Refunded', formatUsd(-refundedNanoUsd)],
      ['Left', formatUsd(payment.amountNanoUsd - refundedNanoUsd)],
    )
  return {
    language: 'en',
    title: 'Receipt in test mode',
    subtitles: [
      'No money moved.',
      `Payment: ${payment.id}`,
      `Account: ${account.name} (${account.id})`,
      `Paid at ${paidAt.slice(0, 19).replace('T', ' ')} UTC`,
      'All amounts are in US dollars.',
    ],
    issuer: [
      ...(operator.name === null ? [] : [operator.name]),
      ...(operator.address?.split('|').map((line) => line.trim()) ?? []),
      ...(operator.taxId === null ? [] : [`Tax id: ${operator.taxId}`]),
    ],
    tables: [
      {
        title: 'Payment',
        columns: [
          { title: '', share: 0.75 },
          { title: 'USD', share: 0.25, isRight: true },
        ],
        rows,
        boldRows: [rows.length - 1],
      },
    ],
    notes: operator.taxLine === null ? [] : [operator.taxLine],
  }
}
