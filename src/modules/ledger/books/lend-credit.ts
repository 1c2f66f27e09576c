import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { WindowPeriod } from '../budgets/budget-window.ts'
import { CHOOSE_LOTS, lockAccount, payDebt } from './lock-account.ts'
import { closeJournal } from '../journal/journal-charges.ts'
import type { CreditClass } from './move-credit.ts'
import { postCharges } from '../journal/post-charges.ts'
import type { Lease, LentAmount } from '../memory/borrowed-balance.ts'

/** The owner of a lease: a process or the hold of a task. */
export type LeaseOwner = { readonly borrowerId: string } | { readonly holdKey: string }

/** A limit on spending beside the balance. */
export interface Cap {
  /** `key:<id>`, `day:<account>:<date>`, `month:<account>:<month>`, `budget:<id>:<first day of its window>` */
  readonly scope: string
  readonly limitNanoUsd: NanoUsd
  /** Only of a budget: what a refusal tells about it. */
  readonly budget?: CappedBudget
}

export interface CappedBudget {
  readonly id: string
  readonly subject: string
  readonly period: WindowPeriod
  /** Null for a budget of all time. */
  readonly resetsAtMs: number | null
}

/** An amount to lend from an account's lots. */
export interface Slice {
  readonly accountId: string
  readonly amountNanoUsd: NanoUsd
}

/** Lends free credit, promotional first, and returns the leases of each slice. Throws if an account has less; the accounts must be locked. */
export async function lendFromLots(
  transaction: Queryable,
  owner: LeaseOwner,
  slices: readonly Slice[],
): Promise<LentAmount[][]> {
  const rows = await transaction.query<LeaseRow & { account_id: string; lent: bigint }>(LEND_FROM_LOTS, [
    slices.map(({ accountId }) => accountId),
    slices.map(({ amountNanoUsd }) => amountNanoUsd),
    ...ownerColumns(owner),
  ])
  return slices.map(({ accountId, amountNanoUsd }) => {
    const leases = rows.filter(({ account_id: id }) => id === accountId)
    const lentNanoUsd = leases.reduce((sum, { lent }) => sum + lent, 0n)
    if (lentNanoUsd !== amountNanoUsd) throw new Error(`account ${accountId} has less than was to be lent`)
    return leases.map(leaseFromRow)
  })
}

/** A cap, and what is neither spent nor lent of it; negative if the cap is exceeded. */
export interface CapRoom<SomeCap extends Cap = Cap> {
  readonly cap: SomeCap
  readonly roomNanoUsd: NanoUsd
}

/** The account of the caps must be locked. */
export async function readCapRooms<SomeCap extends Cap>(
  transaction: Queryable,
  caps: readonly SomeCap[],
): Promise<CapRoom<SomeCap>[]> {
  if (caps.length === 0) return []
  const rows = await transaction.query<{ used: bigint }>(
    `SELECT spent_under(scope)
       + coalesce((SELECT sum(amount_nano_usd - spent_nano_usd) FROM credit_leases WHERE cap = scope), 0)::bigint AS used
     FROM unnest($1::text[]) WITH ORDINALITY AS asked (scope, number) ORDER BY number`,
    [caps.map(({ scope }) => scope)],
  )
  return caps.map((cap, index) => ({ cap, roomNanoUsd: cap.limitNanoUsd - (rows[index]?.used ?? 0n) }))
}

/** An amount to lend from a cap. */
export interface CapSlice {
  readonly scope: string
  readonly amountNanoUsd: NanoUsd
}

/** Lends a slice of each of these caps, which are different ones. Returns the lease of each scope. */
export async function lendFromCaps(
  transaction: Queryable,
  accountId: string,
  owner: LeaseOwner,
  slices: readonly CapSlice[],
): Promise<Map<string, LentAmount>> {
  if (slices.length === 0) return new Map()
  const rows = await transaction.query<CapLeaseRow>(
    `INSERT INTO credit_leases (account_id, borrower_id, hold_key, cap, amount_nano_usd)
     SELECT $1, $2, $3, scope, amount FROM unnest($4::text[], $5::bigint[]) AS slice (scope, amount) ${ADD_TO_LEASE}
     RETURNING id, cap, amount_nano_usd AS amount, spent_nano_usd AS spent, NULL AS class, NULL AS expires_at`,
    [
      accountId,
      ...ownerColumns(owner),
      slices.map(({ scope }) => scope),
      slices.map(({ amountNanoUsd }) => amountNanoUsd),
    ],
  )
  return leasesByCap(rows)
}

/** The leases that a process has of these caps. */
export async function readCapLeases(
  transaction: Queryable,
  accountId: string,
  { borrowerId, scopes }: { borrowerId: string; scopes: readonly string[] },
): Promise<Map<string, LentAmount>> {
  if (scopes.length === 0) return new Map()
  const rows = await transaction.query<CapLeaseRow>(
    `SELECT id, cap, amount_nano_usd AS amount, spent_nano_usd AS spent, NULL AS class, NULL AS expires_at
     FROM credit_leases WHERE account_id = $1 AND borrower_id = $2 AND cap = ANY ($3::text[])`,
    [accountId, borrowerId, scopes],
  )
  return leasesByCap(rows)
}

/** The leases of a process in the database: of an account's lots, or of one cap. */
export async function readLeases(
  transaction: Queryable,
  accountId: string,
  { borrowerId, cap }: { borrowerId: string; cap: string | null },
): Promise<LentAmount[]> {
  const rows = await transaction.query<LeaseRow>(
    `SELECT lease.id, lease.amount_nano_usd AS amount, lease.spent_nano_usd AS spent, lot.class, lot.expires_at
     FROM credit_leases lease LEFT JOIN credit_lots lot ON lot.id = lease.lot_id
     WHERE lease.account_id = $1 AND lease.borrower_id = $2 AND lease.cap IS NOT DISTINCT FROM $3`,
    [accountId, borrowerId, cap],
  )
  return rows.map(leaseFromRow)
}

/** Lowers leases to these amounts and returns the difference to the lots. Idempotent. */
export async function shortenLeases(
  transaction: Queryable,
  accountId: string,
  leases: readonly Pick<Lease, 'id' | 'amountNanoUsd'>[],
): Promise<void> {
  await lockAccount(transaction, accountId)
  await transaction.query(
    `WITH shortened AS (
       UPDATE credit_leases SET amount_nano_usd = wanted.amount
       FROM unnest($2::bigint[], $3::bigint[]) AS wanted (id, amount),
         (SELECT id, amount_nano_usd AS amount FROM credit_leases WHERE id = ANY ($2::bigint[])) AS was
       WHERE credit_leases.id = wanted.id AND was.id = wanted.id AND credit_leases.account_id = $1
         AND credit_leases.amount_nano_usd > wanted.amount
       RETURNING credit_leases.lot_id, was.amount - wanted.amount AS difference
     )
     UPDATE credit_lots SET remaining_nano_usd = remaining_nano_usd + back.amount
     FROM (SELECT lot_id, sum(difference)::bigint AS amount FROM shortened GROUP BY lot_id) AS back
     WHERE credit_lots.id = back.lot_id`,
    [accountId, leases.map(({ id }) => id), leases.map(({ amountNanoUsd }) => amountNanoUsd)],
  )
  await payDebt(transaction, accountId)
}

/** Deletes leases and returns their unspent part to the lots. */
export async function endLeases(transaction: Queryable, accountId: string, owner: LeaseOwner): Promise<void> {
  await lockAccount(transaction, accountId)
  await transaction.query(endLeasesWhere('account_id = $1 AND (borrower_id = $2 OR hold_key = $3)'), [
    accountId,
    ...ownerColumns(owner),
  ])
  await payDebt(transaction, accountId)
}

/**
 * Takes back the leases of a dead process. First stops its commits and posts its charges, then locks the accounts in the same
 * order as all other code.
 */
export async function reclaimLeases(transaction: Queryable, borrowerId: string): Promise<void> {
  await closeJournal(transaction, borrowerId)
  await postCharges(transaction, { borrowerId })
  const accounts = await transaction.query<{ account_id: string; debt_nano_usd: bigint }>(
    `SELECT account_id, debt_nano_usd FROM credit_accounts
     WHERE account_id IN (SELECT account_id FROM credit_leases WHERE borrower_id = $1)
     ORDER BY account_id FOR UPDATE`,
    [borrowerId],
  )
  // One statement for all, because a process may have leases of ten thousand accounts.
  await transaction.query(endLeasesWhere('borrower_id = $1'), [borrowerId])
  for (const { account_id: accountId, debt_nano_usd: debt } of accounts) {
    if (debt > 0n) await payDebt(transaction, accountId)
  }
}

const endLeasesWhere = (condition: string): string => `
  WITH ended AS (
    DELETE FROM credit_leases WHERE ${condition} RETURNING lot_id, amount_nano_usd - spent_nano_usd AS unspent
  )
  UPDATE credit_lots SET remaining_nano_usd = remaining_nano_usd + back.amount
  FROM (SELECT lot_id, sum(unspent)::bigint AS amount FROM ended GROUP BY lot_id) AS back
  WHERE credit_lots.id = back.lot_id`

// A process has one lease per lot, which grows; a hold leases each lot once.
const ADD_TO_LEASE = `
  ON CONFLICT (borrower_id, coalesce(lot_id::text, cap)) WHERE borrower_id IS NOT NULL
  DO UPDATE SET amount_nano_usd = credit_leases.amount_nano_usd + excluded.amount_nano_usd`

const LEND_FROM_LOTS = `
  WITH ${CHOOSE_LOTS}, taken AS (
    UPDATE credit_lots SET remaining_nano_usd = remaining_nano_usd - chosen.amount
    FROM chosen WHERE credit_lots.id = chosen.id
  ), leased AS (
    INSERT INTO credit_leases (account_id, borrower_id, hold_key, lot_id, amount_nano_usd)
    SELECT account_id, $3, $4, id, amount FROM chosen ${ADD_TO_LEASE}
    RETURNING id, lot_id, amount_nano_usd, spent_nano_usd
  )
  SELECT leased.id, leased.amount_nano_usd AS amount, leased.spent_nano_usd AS spent, chosen.class,
    chosen.expires_at, chosen.account_id, chosen.amount AS lent
  FROM leased JOIN chosen ON chosen.id = leased.lot_id`

interface LeaseRow {
  readonly id: bigint
  readonly amount: bigint
  readonly spent: bigint
  readonly class: CreditClass | null
  readonly expires_at: Date | null
}

interface CapLeaseRow extends LeaseRow {
  readonly cap: string
}

/** A process and a hold have at most one lease of a cap. */
function leasesByCap(rows: readonly CapLeaseRow[]): Map<string, LentAmount> {
  return new Map(rows.map((row) => [row.cap, leaseFromRow(row)]))
}

function leaseFromRow(row: LeaseRow): LentAmount {
  return {
    id: String(row.id),
    class: row.class,
    expiresAtMs: row.expires_at?.getTime() ?? null,
    amountNanoUsd: row.amount,
    spentNanoUsd: row.spent,
  }
}

function ownerColumns(owner: LeaseOwner): [string | null, string | null] {
  return 'borrowerId' in owner ? [owner.borrowerId, null] : [null, owner.holdKey]
}
