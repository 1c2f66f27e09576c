import { Type } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { AccountPayment } from '../../../modules/billing/billing.ts'
import { csvRow } from '../../answers/csv-row.ts'

/** The query of a list of payments that is also a file. */
export const PaymentFormat = Type.Object({
  format: Type.Optional(
    Type.Enum(['json', 'csv'], {
      default: 'json',
      description: 'A page as JSON, or all payments as a file (`csv`), without `limit` and `after`.',
    }),
  ),
})

export const PAYMENTS_CSV = {
  otherTypes: { 'text/csv': Type.String({ description: 'One row a payment.' }) },
} as const

const COLUMNS = [
  'at',
  'completed_at',
  'id',
  'kind',
  'status',
  'amount_usd',
  'reason',
  'refunded_payment_id',
  'receipt_url',
]

interface PaymentsCsv {
  /** Of several accounts, a row says whose it is. */
  readonly hasAccounts: boolean
}

/** Writes payments as lines, newest first. */
export async function* writePaymentsCsv(
  parts: AsyncIterable<readonly AccountPayment[]>,
  { hasAccounts }: PaymentsCsv,
): AsyncGenerator<string, void> {
  yield csvRow(hasAccounts ? [...COLUMNS, 'account_id', 'account'] : COLUMNS)
  for await (const payments of parts)
    yield payments
      .map((payment) =>
        csvRow([
          toTimestamp(payment.createdAtMs),
          payment.completedAtMs === null ? null : toTimestamp(payment.completedAtMs),
          payment.id,
          payment.kind,
          payment.status,
          { nanoUsd: payment.amountNanoUsd },
          payment.reason,
          payment.refundedPaymentId,
          payment.receiptUrl,
          ...(hasAccounts ? [payment.accountId, payment.accountName] : []),
        ]),
      )
      .join('')
}
