import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import { recordChange } from '../../audit/audit.ts'
import type { Decline } from '../../../payments/saved-methods.ts'
import type { Payment } from '../payment-record.ts'
import { lockAutoTopUp, writeAutoTopUp, type AutoTopUpRecord } from './auto-top-up-record.ts'
import { writeNotice, type NoticeContext } from './write-notice.ts'

/** Between two charges, so that the credit of the first one is spent before the second. */
const NEXT_CHARGE_MS = 60_000
/** After each failure but the last. Then it is switched off. */
const FAILURE_PAUSES_MS: readonly number[] = [3_600_000, 6 * 3_600_000]

/** Call it in the transaction that grants the credit, with the payment locked. */
export async function noteCharged(
  transaction: Queryable,
  context: NoticeContext,
  { payment: { id: paymentId, accountId, amountNanoUsd }, nowMs }: { payment: Payment; nowMs: number },
): Promise<void> {
  await endCharge(transaction, paymentId)
  const record = await lockAutoTopUp(transaction, accountId)
  await writeAutoTopUp(transaction, accountId, {
    ...record,
    failures: 0,
    problem: null,
    nextTryAtMs: nowMs + NEXT_CHARGE_MS,
  })
  await recordChange(transaction, {
    actor: { accountId, keyId: null },
    type: 'credit.added',
    projectId: null,
    resourceId: paymentId,
    details: { data: { amount_usd: usdFromNanoUsd(amountNanoUsd), is_auto_top_up: true } },
  })
  await writeNotice(transaction, context, {
    accountId,
    event: { type: 'charged', paymentId, amountNanoUsd },
    nowMs,
  })
}

/** Call it in the transaction that writes the failure, with the payment locked. */
export async function noteFailed(
  transaction: Queryable,
  context: NoticeContext,
  {
    payment: { id: paymentId, accountId, amountNanoUsd },
    decline: { code, isFinal },
    nowMs,
  }: { payment: Payment; decline: Decline; nowMs: number },
): Promise<void> {
  const methodId = await endCharge(transaction, paymentId)
  const record = await lockAutoTopUp(transaction, accountId)
  const pauseMs = FAILURE_PAUSES_MS[record.failures]
  // A card that was replaced meanwhile says nothing about the one that is saved now.
  const isOfCard = record.card?.methodId === methodId
  const isOff = isOfCard && (isFinal || pauseMs === undefined)
  if (isOfCard)
    await writeAutoTopUp(transaction, accountId, {
      ...record,
      failures: record.failures + 1,
      problem: code,
      nextTryAtMs: nowMs + (pauseMs ?? 0),
      isEnabled: record.isEnabled && !isOff,
    })
  if (isOff) await recordSwitchedOff(transaction, accountId, record, code)
  // Somebody may have switched it off while the card was charged.
  const isSwitchedOff = isOff || !record.isEnabled
  await writeNotice(transaction, context, {
    accountId,
    event: { type: 'failed', paymentId, amountNanoUsd, code, isSwitchedOff },
    nowMs,
  })
}

/** Money that was returned is not taken again by itself. */
export async function switchOffAfterReversal(
  transaction: Queryable,
  accountId: string,
  code: 'refunded' | 'disputed',
): Promise<void> {
  const record = await lockAutoTopUp(transaction, accountId)
  if (!record.isEnabled) return
  await writeAutoTopUp(transaction, accountId, { ...record, isEnabled: false, problem: code })
  await recordSwitchedOff(transaction, accountId, record, code)
}

async function recordSwitchedOff(
  transaction: Queryable,
  accountId: string,
  { isEnabled }: AutoTopUpRecord,
  code: string,
): Promise<void> {
  if (!isEnabled) return
  await recordChange(transaction, {
    actor: { accountId, keyId: null },
    type: 'auto_top_up.updated',
    projectId: null,
    resourceId: accountId,
    details: { changes_requested: { enabled: false, problem: code } },
  })
}

/** Returns the payment method that was charged. */
async function endCharge(transaction: Queryable, paymentId: string): Promise<string | undefined> {
  const [charge] = await transaction.query<{ method_id: string }>(
    'UPDATE auto_top_up_charges SET check_at = NULL WHERE payment_id = $1 RETURNING method_id',
    [paymentId],
  )
  return charge?.method_id
}
