import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'

/** The credit of an account in the database. */
export interface CreditState {
  /** In lots that have not expired, not lent. */
  readonly freeNanoUsd: NanoUsd
  /** Unspent in leases of processes and holds, without those of the asking borrower. */
  readonly lentNanoUsd: NanoUsd
  readonly debtNanoUsd: NanoUsd
}

/** Locks the account. Every change of its credit does this first, to avoid deadlocks. */
export async function lockAccount(transaction: Queryable, accountId: string): Promise<void> {
  const locked = await transaction.query(LOCK, [accountId])
  if (locked.length > 0) return
  await transaction.query(
    'INSERT INTO credit_accounts (account_id) VALUES ($1) ON CONFLICT (account_id) DO NOTHING',
    [accountId],
  )
  await transaction.query(LOCK, [accountId])
}

const LOCK = 'SELECT FROM credit_accounts WHERE account_id = $1 FOR UPDATE'

/** A separate statement after the lock, because a statement that waits for a lock reads an older snapshot. */
export async function readCreditState(
  transaction: Queryable,
  accountId: string,
  borrowerId: string | null = null,
): Promise<CreditState> {
  const [state] = await readCreditStates(transaction, [{ accountId, borrowerId }])
  return state ?? { freeNanoUsd: 0n, lentNanoUsd: 0n, debtNanoUsd: 0n }
}

/** An account, and the borrower whose leases are left out. */
interface AskedAccount {
  readonly accountId: string
  readonly borrowerId: string | null
}

/** Returns the states in the order of the request. */
export async function readCreditStates(
  transaction: Queryable,
  asked: readonly AskedAccount[],
): Promise<CreditState[]> {
  const rows = await transaction.query<CreditStateRow>(
    `SELECT ${CREDIT_STATE} FROM ${ASKED_ACCOUNTS} ORDER BY number`,
    askedColumns(asked),
  )
  return rows.map(creditStateFromRow)
}

/** A FROM item `asked`, made of two arrays. */
export const ASKED_ACCOUNTS =
  'unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS asked (account_id, borrower_id, number)'

export function askedColumns(asked: readonly AskedAccount[]): [string[], (string | null)[]] {
  return [asked.map(({ accountId }) => accountId), asked.map(({ borrowerId }) => borrowerId)]
}

/** Columns with the credit state of an account in `asked`. */
export const CREDIT_STATE = `
  coalesce((SELECT debt_nano_usd FROM credit_accounts WHERE account_id = asked.account_id), 0) AS debt,
  (SELECT coalesce(sum(remaining_nano_usd), 0)::bigint FROM credit_lots
   WHERE account_id = asked.account_id AND remaining_nano_usd > 0 AND (expires_at IS NULL OR expires_at > now())) AS free,
  (SELECT coalesce(sum(amount_nano_usd - spent_nano_usd), 0)::bigint FROM credit_leases
   WHERE account_id = asked.account_id AND lot_id IS NOT NULL AND borrower_id IS DISTINCT FROM asked.borrower_id) AS lent`

export interface CreditStateRow {
  readonly free: bigint
  readonly lent: bigint
  readonly debt: bigint
}

export function creditStateFromRow({ free, lent, debt }: CreditStateRow): CreditState {
  return { freeNanoUsd: free, lentNanoUsd: lent, debtNanoUsd: debt }
}

interface LateHolder {
  readonly accountId: string
  readonly mayHoldTooLong: boolean
}

/** Accounts with free borrowed credit while a lot that is spent earlier may be free. */
export async function findLateHolders<Holder extends LateHolder>(
  queryable: Queryable,
  accounts: readonly Holder[],
): Promise<Holder[]> {
  const holding = accounts.filter(({ mayHoldTooLong }) => mayHoldTooLong)
  if (holding.length === 0) return []
  const ids = holding.map(({ accountId }) => accountId)
  const found = new Set(await findEarlyCredit(queryable, ids))
  return holding.filter(({ accountId }) => found.has(accountId))
}

async function findEarlyCredit(queryable: Queryable, accountIds: readonly string[]): Promise<string[]> {
  const rows = await queryable.query<{ account_id: string }>(
    `SELECT DISTINCT account_id FROM credit_lots WHERE account_id = ANY ($1::uuid[]) AND remaining_nano_usd > 0
       AND (class = 'promotional' OR expires_at IS NOT NULL) AND (expires_at IS NULL OR expires_at > now())`,
    [accountIds],
  )
  return rows.map(({ account_id: id }) => id)
}

/** Pays the debt from free credit. The account must be locked. */
export async function payDebt(transaction: Queryable, accountId: string): Promise<void> {
  const { freeNanoUsd, debtNanoUsd } = await readCreditState(transaction, accountId)
  const paidNanoUsd = freeNanoUsd < debtNanoUsd ? freeNanoUsd : debtNanoUsd
  if (paidNanoUsd === 0n) return
  await takeFromLots(transaction, accountId, paidNanoUsd)
  await transaction.query(
    'UPDATE credit_accounts SET debt_nano_usd = debt_nano_usd - $2 WHERE account_id = $1',
    [accountId, paidNanoUsd],
  )
}

/** Takes from the lots in spending order. Throws if there is less; the account must be locked. */
export async function takeFromLots(
  transaction: Queryable,
  accountId: string,
  amountNanoUsd: NanoUsd,
): Promise<void> {
  const [row] = await transaction.query<{ taken: bigint }>(
    `WITH ${CHOOSE_LOTS}, taken AS (
       UPDATE credit_lots SET remaining_nano_usd = remaining_nano_usd - chosen.amount
       FROM chosen WHERE credit_lots.id = chosen.id RETURNING chosen.amount
     ) SELECT coalesce(sum(amount), 0)::bigint AS taken FROM taken`,
    [[accountId], [amountNanoUsd]],
  )
  if (row?.taken !== amountNanoUsd) throw new Error(`account ${accountId} has less than was to be taken`)
}

/** Chooses lots in spending order: promotional first, then by expiry. `$1` are accounts, `$2` the amount of each. */
export const CHOOSE_LOTS = `
  usable AS (
    SELECT lot.id, lot.account_id, class, expires_at, remaining_nano_usd AS remaining, asked.amount AS wanted,
      sum(remaining_nano_usd) OVER (PARTITION BY lot.account_id ORDER BY class = 'paid', expires_at NULLS LAST, lot.id)
        - remaining_nano_usd AS before
    FROM unnest($1::uuid[], $2::bigint[]) AS asked (account_id, amount)
    JOIN credit_lots lot ON lot.account_id = asked.account_id
    WHERE remaining_nano_usd > 0 AND (expires_at IS NULL OR expires_at > now())
  ), chosen AS (
    SELECT id, account_id, class, expires_at, least(remaining, wanted - before)::bigint AS amount
    FROM usable WHERE before < wanted
  )`
