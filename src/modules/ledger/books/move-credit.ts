import { AppError } from '../../../kernel/app-error.ts'
import { createId } from '../../../kernel/identifiers.ts'
import { formatUsd, type NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import { lockAccount, payDebt, readCreditState, takeFromLots } from './lock-account.ts'
import { writeEntries, type Book } from './write-entries.ts'

export type CreditClass = 'paid' | 'promotional'

export interface DeductOrder {
  /** The caller's idempotency key for this movement. */
  readonly key: string
  readonly accountId: string
  readonly amountNanoUsd: NanoUsd
  readonly reason: string
}

export interface GrantOrder extends DeductOrder {
  readonly class: CreditClass
  readonly book: Exclude<Book, 'revenue'>
  /** Null or absent: it never expires. */
  readonly expiresAtMs?: number | null
}

export interface ReverseOrder extends DeductOrder {
  readonly book: Exclude<Book, 'revenue'>
}

export async function grantCredit(transaction: Queryable, order: GrantOrder): Promise<{ isNew: boolean }> {
  requirePositive(order)
  const { accountId, amountNanoUsd, expiresAtMs = null } = order
  await lockAccount(transaction, accountId)
  const isNew = await writeEntries(transaction, { ...order, kind: 'grant', gainNanoUsd: amountNanoUsd })
  if (!isNew) return { isNew }
  await transaction.query(
    `INSERT INTO credit_lots (id, account_id, class, granted_nano_usd, remaining_nano_usd, expires_at)
     VALUES ($1, $2, $3, $4, $4, $5)`,
    [createId(), accountId, order.class, amountNanoUsd, expiresAtMs === null ? null : new Date(expiresAtMs)],
  )
  await payDebt(transaction, accountId)
  return { isNew }
}

/** Takes back a grant. The part that is already spent or lent becomes debt. */
export async function reverseCredit(
  transaction: Queryable,
  order: ReverseOrder,
): Promise<{ isNew: boolean; debtNanoUsd: NanoUsd }> {
  requirePositive(order)
  const { accountId, amountNanoUsd } = order
  await lockAccount(transaction, accountId)
  const isNew = await writeEntries(transaction, { ...order, kind: 'reverse', gainNanoUsd: -amountNanoUsd })
  if (isNew) {
    await transaction.query(
      'UPDATE credit_accounts SET debt_nano_usd = debt_nano_usd + $2 WHERE account_id = $1',
      [accountId, amountNanoUsd],
    )
    await payDebt(transaction, accountId)
  }
  return { isNew, debtNanoUsd: (await readCreditState(transaction, accountId)).debtNanoUsd }
}

/** An operator's deduction, which never exceeds the free credit. */
export async function deductCredit(transaction: Queryable, order: DeductOrder): Promise<{ isNew: boolean }> {
  requirePositive(order)
  const { accountId, amountNanoUsd } = order
  await lockAccount(transaction, accountId)
  const isNew = await writeEntries(transaction, {
    ...order,
    kind: 'deduct',
    gainNanoUsd: -amountNanoUsd,
    book: 'adjustment',
  })
  if (!isNew) return { isNew }
  const { freeNanoUsd } = await readCreditState(transaction, accountId)
  if (freeNanoUsd < amountNanoUsd) {
    const message = `Only ${formatUsd(freeNanoUsd)} USD can be deducted; the rest is spent or in use by running requests.`
    throw new AppError('conflict', message)
  }
  await takeFromLots(transaction, accountId, amountNanoUsd)
  return { isNew }
}

const EXPIRED_AT_ONCE_MAX = 100

/** Writes off expired lots, a bounded number at a time. `isMore` says whether to call it again. */
export async function expireLots(transaction: Queryable): Promise<{ accountIds: string[]; isMore: boolean }> {
  const lots = await transaction.query<{ id: string; account_id: string }>(
    `SELECT id, account_id FROM credit_lots
     WHERE remaining_nano_usd > 0 AND expires_at <= now() ORDER BY account_id, id LIMIT $1`,
    [EXPIRED_AT_ONCE_MAX],
  )
  for (const { id, account_id: accountId } of lots) {
    await lockAccount(transaction, accountId)
    // Read after the lock, because a lease may have been given back, or another process may have expired the lot.
    const [left] = await transaction.query<{ amount: bigint }>(
      'SELECT remaining_nano_usd AS amount FROM credit_lots WHERE id = $1 AND remaining_nano_usd > 0',
      [id],
    )
    if (left === undefined) continue
    await transaction.query('UPDATE credit_lots SET remaining_nano_usd = 0 WHERE id = $1', [id])
    await writeEntries(transaction, {
      // Not the lot's id as key: credit given back later expires in another entry.
      key: `expire:${createId()}`,
      accountId,
      kind: 'expire',
      gainNanoUsd: -left.amount,
      book: 'promotion',
      reason: 'Credit expired',
    })
  }
  return {
    accountIds: [...new Set(lots.map((lot) => lot.account_id))],
    isMore: lots.length === EXPIRED_AT_ONCE_MAX,
  }
}

function requirePositive({ key, amountNanoUsd }: DeductOrder): void {
  if (amountNanoUsd <= 0n) throw new RangeError(`'${key}' moves ${amountNanoUsd} nano-dollars`)
}
