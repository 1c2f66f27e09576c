import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import { PAYMENT_KINDS, PAYMENT_STATUSES, type Payment } from '../../../modules/billing/billing.ts'
import { CreatedAt, UuidId, objectName } from '../../../wires/usual-members.ts'

const nullableTime = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })

export const PaymentAnswer = Type.Object(
  {
    id: UuidId,
    object: objectName('payment'),
    kind: Type.Enum([...PAYMENT_KINDS], {
      description: 'What it is: a checkout, a promo code, an adjustment or a refund.',
    }),
    amount_usd: Type.Number({ description: 'Negative when credit was taken.' }),
    status: Type.Enum([...PAYMENT_STATUSES], { description: 'The state it is in.' }),
    created_at: CreatedAt,
    completed_at: nullableTime('When the credit moved.'),
    receipt_url: Type.Optional(Type.String({ description: 'The receipt of the payment provider.' })),
    refunded_payment_id: Type.Optional(
      Type.String({ format: 'uuid', description: 'Of a refund: the payment it took back.' }),
    ),
    reason: Type.Optional(Type.String({ description: 'Why, in words.' })),
  },
  { title: 'Payment' },
)

export function paymentToWire(payment: Payment): Static<typeof PaymentAnswer> {
  return {
    id: payment.id,
    object: 'payment',
    kind: payment.kind,
    amount_usd: usdFromNanoUsd(payment.amountNanoUsd),
    status: payment.status,
    created_at: toTimestamp(payment.createdAtMs),
    completed_at: payment.completedAtMs === null ? null : toTimestamp(payment.completedAtMs),
    ...(payment.receiptUrl !== null && { receipt_url: payment.receiptUrl }),
    ...(payment.refundedPaymentId !== null && { refunded_payment_id: payment.refundedPaymentId }),
    ...(payment.reason !== null && { reason: payment.reason }),
  }
}
