import { createId } from '../../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { readBalances } from '../../ledger/ledger.ts'
import { insertCheckout } from '../checkout-record.ts'
import { insertPayment } from '../payment-record.ts'
import {
  lockIfEnabled,
  writeAutoTopUp,
  type AutoTopUpRecord,
  type SavedCard,
  type TopUpRules,
} from './auto-top-up-record.ts'
import { monthStartMs, nextMonthMs, readRecentTopUps } from './month-spending.ts'
import { writeNotice, type NoticeContext } from './write-notice.ts'

export interface BeginContext extends NoticeContext {
  readonly database: Database
  readonly clock: Clock
}

/** So that an account whose rules are wrong does not use up its ceiling within minutes. */
const TOP_UPS_A_DAY_MAX = 10
const DAY_FULL_PAUSE_MS = 3_600_000

/**
 * Decides whether the account is charged now, and writes the payment that is then charged. Whoever decides has locked the row, reads the
 * balance after that, and finds every earlier charge: so one process decides, once, within the ceiling.
 * Returns the id of the payment, or null.
 */
export function beginTopUp(
  context: BeginContext,
  provider: string,
  accountId: string,
): Promise<string | null> {
  return context.database.transaction(async (transaction) => {
    const record = await lockIfEnabled(transaction, accountId)
    if (record === null || record.card === null || record.rules === null) return null
    const nowMs = context.clock.nowMs()
    const isDue = record.nextTryAtMs === null || record.nextTryAtMs <= nowMs
    if (!isDue || record.card.provider !== provider) return null
    const balance = (await readBalances(transaction, [accountId])).get(accountId)
    if (balance === undefined || balance.balanceNanoUsd >= record.rules.thresholdNanoUsd) return null
    const due = { accountId, record, rules: record.rules, card: record.card, nowMs }
    return (await hasRoom(context, transaction, due)) ? insertCharge(transaction, due) : null
  })
}

interface DueTopUp {
  readonly accountId: string
  readonly record: AutoTopUpRecord
  readonly rules: TopUpRules
  readonly card: SavedCard
  readonly nowMs: number
}

/** Whether another charge is allowed. If not, says until when the account is not looked at again. */
async function hasRoom(
  context: NoticeContext,
  transaction: Queryable,
  { accountId, record, rules, nowMs }: DueTopUp,
): Promise<boolean> {
  const recent = await readRecentTopUps(transaction, accountId, nowMs)
  if (recent.isBeingCharged) return false
  if (recent.dayCount >= TOP_UPS_A_DAY_MAX) {
    await writeAutoTopUp(transaction, accountId, { ...record, nextTryAtMs: nowMs + DAY_FULL_PAUSE_MS })
    return false
  }
  if (recent.monthNanoUsd + rules.amountNanoUsd <= rules.ceilingNanoUsd) return true
  const month = new Date(monthStartMs(nowMs)).toISOString().slice(0, 'YYYY-MM-DD'.length)
  await writeAutoTopUp(transaction, accountId, {
    ...record,
    nextTryAtMs: nextMonthMs(nowMs),
    ceilingToldMonth: month,
  })
  if (record.ceilingToldMonth !== month) {
    const { ceilingNanoUsd, amountNanoUsd } = rules
    const event = {
      type: 'ceiling_reached',
      ceilingNanoUsd,
      amountNanoUsd,
      spentNanoUsd: recent.monthNanoUsd,
    } as const
    await writeNotice(transaction, context, { accountId, event, nowMs })
  }
  return false
}

/** With all that the provider is asked, so that a process that takes over after a crash asks the same. */
async function insertCharge(
  transaction: Queryable,
  { accountId, rules, card, nowMs }: DueTopUp,
): Promise<string> {
  const paymentId = createId(nowMs)
  await insertPayment(transaction, {
    id: paymentId,
    accountId,
    kind: 'auto_top_up',
    amountNanoUsd: rules.amountNanoUsd,
    status: 'pending',
    nowMs,
  })
  await insertCheckout(transaction, {
    paymentId,
    provider: card.provider,
    baseUrl: card.baseUrl,
    successUrl: null,
    cancelUrl: null,
    expiresAtMs: nowMs,
    // It has no page, so nobody asks the provider for one.
    checkAtMs: null,
  })
  await transaction.query(
    'INSERT INTO auto_top_up_charges (payment_id, customer_id, method_id, check_at) VALUES ($1, $2, $3, $4)',
    [paymentId, card.customerId, card.methodId, new Date(nowMs)],
  )
  return paymentId
}
