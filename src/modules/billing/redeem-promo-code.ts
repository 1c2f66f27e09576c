import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { countFailure, readWaitMs, type Guesser } from './limit-guesses.ts'
import { insertPayment } from './payment-record.ts'
import {
  isRedeemable,
  normaliseCode,
  PROMO_CODE_COLUMNS,
  promoCodeFromRow,
  type PromoCode,
  type PromoCodeRow,
} from './promo-code.ts'

export interface Redemption {
  readonly code: string
  readonly amountNanoUsd: NanoUsd
  readonly balanceNanoUsd: NanoUsd
  readonly redeemedAtMs: number
}

interface RedeemContext {
  readonly database: Database
  readonly clock: Clock
  readonly ledger: Pick<Ledger, 'grant' | 'announceChange' | 'readBalance'>
}

type Outcome =
  | { readonly result: 'redeemed'; readonly code: PromoCode }
  | { readonly result: 'invalid' | 'repeated' }
  | { readonly result: 'limited'; readonly waitMs: number }

const DAY_MS = 86_400_000

/** Grants the credit of a code, at most as often as the code allows, also for concurrent requests. */
export async function redeemPromoCode(
  { database, clock, ledger }: RedeemContext,
  redeemer: Guesser,
  text: string,
): Promise<Redemption> {
  const nowMs = clock.nowMs()
  // Refusals are committed too, so that wrong codes are counted.
  const outcome = await database.transaction((transaction) =>
    attempt({ transaction, ledger, redeemer, nowMs }, normaliseCode(text)),
  )
  if (outcome.result !== 'redeemed') throw toRefusal(outcome)
  await ledger.announceChange(redeemer.accountId)
  const { balanceNanoUsd } = await ledger.readBalance(redeemer.accountId)
  const { code, amountNanoUsd } = outcome.code
  return { code, amountNanoUsd, balanceNanoUsd, redeemedAtMs: nowMs }
}

interface Attempt {
  readonly transaction: Queryable
  readonly ledger: RedeemContext['ledger']
  readonly redeemer: Guesser
  readonly nowMs: number
}

async function attempt(context: Attempt, text: string): Promise<Outcome> {
  const { transaction, redeemer, nowMs } = context
  const waitMs = await readWaitMs(transaction, redeemer, nowMs)
  if (waitMs > 0) return { result: 'limited', waitMs }
  const code = await lockCode(transaction, text)
  if (code !== null && (await hasRedeemedAll(transaction, code, redeemer.accountId))) {
    return { result: 'repeated' }
  }
  if (code === null || !isRedeemable(code, nowMs)) {
    await countFailure(transaction, redeemer)
    return { result: 'invalid' }
  }
  await giveCredit(context, code)
  return { result: 'redeemed', code }
}

async function giveCredit({ transaction, ledger, redeemer, nowMs }: Attempt, code: PromoCode): Promise<void> {
  const { accountId } = redeemer
  const { amountNanoUsd, creditDays } = code
  const paymentId = createId(nowMs)
  const reason = `Promo code ${code.code}`
  await insertPayment(transaction, {
    id: paymentId,
    accountId,
    kind: 'promo',
    amountNanoUsd,
    status: 'completed',
    reason,
    nowMs,
  })
  await transaction.query(
    'INSERT INTO promo_redemptions (payment_id, promo_code_id, account_id) VALUES ($1, $2, $3)',
    [paymentId, code.id, accountId],
  )
  await transaction.query('UPDATE promo_codes SET redemptions = redemptions + 1 WHERE id = $1', [code.id])
  await ledger.grant(transaction, {
    key: `promo:${paymentId}`,
    accountId,
    amountNanoUsd,
    class: 'promotional',
    book: 'promotion',
    reason,
    expiresAtMs: creditDays === null ? null : nowMs + creditDays * DAY_MS,
  })
}

async function lockCode(transaction: Queryable, text: string): Promise<PromoCode | null> {
  const [row] = await transaction.query<PromoCodeRow>(
    `SELECT ${PROMO_CODE_COLUMNS} FROM promo_codes WHERE code = $1 FOR UPDATE`,
    [text],
  )
  return row === undefined ? null : promoCodeFromRow(row)
}

async function hasRedeemedAll(transaction: Queryable, code: PromoCode, accountId: string): Promise<boolean> {
  const [row] = await transaction.query<{ count: bigint }>(
    'SELECT count(*) AS count FROM promo_redemptions WHERE promo_code_id = $1 AND account_id = $2',
    [code.id, accountId],
  )
  return Number(row?.count ?? 0) >= code.redemptionsPerAccountMax
}

function toRefusal(outcome: Exclude<Outcome, { result: 'redeemed' }>): AppError {
  switch (outcome.result) {
    case 'limited':
      return new AppError('rate_limit_exceeded', 'Too many codes that do not exist were tried.', {
        retryAfterSeconds: outcome.waitMs / 1000,
      })
    case 'repeated':
      return new AppError('promo_already_redeemed', 'This account has redeemed the code already.', {
        param: 'code',
      })
    case 'invalid':
      return new AppError('invalid_promo_code', 'The code does not exist, has expired or is used up.', {
        param: 'code',
      })
  }
}
