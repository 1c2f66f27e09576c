import { createId } from '../../../kernel/identifiers.ts'
import { formatUsd, usdFromNanoUsd, type NanoUsd } from '../../../kernel/money.ts'
import { toStorableJson } from '../../../kernel/storable-text.ts'
import type { Queryable } from '../../../storage/database.ts'

/** Queues what tells of a notice, in the transaction that writes it. */
type QueueNotice = (
  transaction: Queryable,
  notice: { readonly accountId: string; readonly accountNoticeId: string },
) => Promise<void>

/** What happened to the automatic top-up of an account. */
export type TopUpEvent =
  | { readonly type: 'charged'; readonly paymentId: string; readonly amountNanoUsd: NanoUsd }
  | {
      readonly type: 'failed'
      readonly paymentId: string
      readonly amountNanoUsd: NanoUsd
      readonly code: string
      /** Whether it is off now: because trying again cannot help or was tried often enough, or because somebody switched it off. */
      readonly isSwitchedOff: boolean
    }
  | {
      readonly type: 'ceiling_reached'
      readonly ceilingNanoUsd: NanoUsd
      readonly amountNanoUsd: NanoUsd
      readonly spentNanoUsd: NanoUsd
    }

export interface NoticeContext {
  readonly queueNotice: QueueNotice
}

/** Tells an account what happened, once: the notice exists if and only if the transaction is committed. */
export async function writeNotice(
  transaction: Queryable,
  { queueNotice }: NoticeContext,
  { accountId, event, nowMs }: { accountId: string; event: TopUpEvent; nowMs: number },
): Promise<void> {
  const id = createId(nowMs)
  const { subject, text } = describe(event)
  await transaction.query(
    `INSERT INTO account_notices (id, account_id, type, data, subject, text, created_at)
     VALUES ($1, $2, $3, $4::jsonb, $5, $6, $7)`,
    [
      id,
      accountId,
      `auto_top_up.${event.type}`,
      toStorableJson(dataOf(event)),
      subject,
      text,
      new Date(nowMs),
    ],
  )
  await queueNotice(transaction, { accountId, accountNoticeId: id })
}

function describe(event: TopUpEvent): { subject: string; text: string } {
  const amount = `${formatUsd(event.amountNanoUsd)} USD`
  if (event.type === 'charged')
    return {
      subject: `Automatic top-up: ${amount}`,
      text: `The saved card was charged ${amount}, and the credit is on the account. Payment ${event.paymentId}.`,
    }
  if (event.type === 'ceiling_reached')
    return {
      subject: 'Automatic top-up: the ceiling of this month is reached',
      text:
        `The balance is below the threshold, but another ${amount} would be more than the ceiling of ` +
        `${formatUsd(event.ceilingNanoUsd)} USD for this month (UTC): ${formatUsd(event.spentNanoUsd)} USD were charged. ` +
        'Raise the ceiling or buy credit.',
    }
  const next = event.isSwitchedOff
    ? 'The automatic top-up is now off. Save another card or buy credit, and switch it on again.'
    : 'It is tried again later.'
  return {
    subject: `Automatic top-up failed: ${event.code}`,
    text: `The saved card could not be charged ${amount} (${event.code}). Nothing was paid. ${next}`,
  }
}

function dataOf(event: TopUpEvent): Record<string, unknown> {
  const amount = { amount_usd: usdFromNanoUsd(event.amountNanoUsd) }
  if (event.type === 'charged') return { payment_id: event.paymentId, ...amount }
  if (event.type === 'failed')
    return {
      payment_id: event.paymentId,
      ...amount,
      problem: event.code,
      switched_off: event.isSwitchedOff,
    }
  return {
    ...amount,
    monthly_ceiling_usd: usdFromNanoUsd(event.ceilingNanoUsd),
    spent_usd: usdFromNanoUsd(event.spentNanoUsd),
  }
}
