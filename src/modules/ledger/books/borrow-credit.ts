import type { NanoUsd } from '../../../kernel/money.ts'
import { FROM_LIVING_BORROWER } from '../../../storage/borrowing/living-borrower.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { lockAccount, readCreditStates, type CreditState } from './lock-account.ts'
import {
  endLeases,
  lendFromCap,
  lendFromLots,
  readCapRoom,
  readLeases,
  shortenLeases,
  type Cap,
} from './lend-credit.ts'
import { postCharges } from '../journal/post-charges.ts'
import type { Lease, LentAmount } from '../memory/borrowed-balance.ts'

/** A slice is an eighth of what is left, so that it shrinks with it, and never more than this. */
const SLICE_SHARE = 8n
const SLICE_NANO_USD_MAX = 100_000_000_000n

/** What one process has of one account. */
export interface Borrowing {
  readonly borrowerId: string
  readonly accountId: string
}

export interface BorrowRequest extends Borrowing {
  /** What is missing right now; more is lent when there is plenty. */
  readonly neededNanoUsd: NanoUsd
}

export interface BorrowedCredit {
  /** Whole leases, each with what was lent of it before. */
  readonly lent: readonly LentAmount[]
  /** Of what is not lent to this borrower, after lending. */
  readonly state: CreditState
}

/** The process was taken for dead: it has to begin again under another id. */
export class BorrowerClosed extends Error {
  override readonly name = 'BorrowerClosed'
}

/** Borrows a slice of an account's credit: at least what is needed or all there is, and nothing while there is a debt. */
export function borrowCredit(database: Database, request: BorrowRequest): Promise<BorrowedCredit> {
  const { accountId, borrowerId } = request
  return database.transaction(async (transaction) => {
    await requireOpenBorrower(transaction, borrowerId)
    await lockAccount(transaction, accountId)
    const [borrowed] = await lendSlices(transaction, borrowerId, [request])
    if (borrowed === undefined) throw new Error('nobody said what was borrowed')
    return borrowed
  })
}

/**
 * The same for many accounts in one transaction. Null for an account that somebody else has locked, or of which nothing is known, and for
 * another borrower's: it has to be asked for by itself.
 */
export function borrowTogether(
  database: Database,
  borrowerId: string,
  requests: readonly BorrowRequest[],
): Promise<(BorrowedCredit | null)[]> {
  return database.transaction(async (transaction) => {
    await requireOpenBorrower(transaction, borrowerId)
    const rows = await transaction.query<{ account_id: string }>(LOCK_WHAT_IS_FREE, [
      requests.map(({ accountId }) => accountId),
    ])
    const locked = new Set(rows.map(({ account_id: id }) => id))
    const served = requests.filter(
      (request) => request.borrowerId === borrowerId && locked.has(request.accountId),
    )
    const borrowed = await lendSlices(transaction, borrowerId, served)
    const outcomes = new Map(served.map((request, index) => [request, borrowed[index]]))
    return requests.map((request) => outcomes.get(request) ?? null)
  })
}

// In one order, so that two of them never wait for each other in a circle; and nobody waits for somebody else's account.
const LOCK_WHAT_IS_FREE = `
  SELECT account_id FROM credit_accounts WHERE account_id = ANY ($1::uuid[])
  ORDER BY account_id FOR UPDATE SKIP LOCKED`

/** Of accounts that are locked. */
async function lendSlices(
  transaction: Queryable,
  borrowerId: string,
  requests: readonly BorrowRequest[],
): Promise<BorrowedCredit[]> {
  if (requests.length === 0) return []
  const states = await readCreditStates(transaction, requests)
  const slices = requests.map(({ accountId, neededNanoUsd }, index) => {
    const { freeNanoUsd = 0n, debtNanoUsd = 0n } = states[index] ?? {}
    return { accountId, amountNanoUsd: debtNanoUsd > 0n ? 0n : sliceOf(freeNanoUsd, neededNanoUsd) }
  })
  const wanted = slices.filter(({ amountNanoUsd }) => amountNanoUsd > 0n)
  const leases = wanted.length === 0 ? [] : await lendFromLots(transaction, { borrowerId }, wanted)
  const lentOf = new Map(wanted.map(({ accountId }, index) => [accountId, leases[index]]))
  const borrowed: BorrowedCredit[] = []
  for (const [index, { accountId, amountNanoUsd }] of slices.entries()) {
    const state = states[index]
    if (state === undefined) throw new Error('nobody said what an account has')
    // Where there is nothing, at least what an answer that got lost had lent already.
    const lent =
      lentOf.get(accountId) ?? (await readLeases(transaction, accountId, { borrowerId, cap: null }))
    borrowed.push({ lent, state: { ...state, freeNanoUsd: state.freeNanoUsd - amountNanoUsd } })
  }
  return borrowed
}

export interface CapLending {
  readonly lent: readonly LentAmount[]
  readonly roomNanoUsd: NanoUsd
  /** More was lent under the cap than it leaves. */
  readonly isOverdrawn: boolean
}

/** The same for what a cap still allows. Says how much is left of it for others. */
export function borrowFromCap(
  database: Database,
  request: BorrowRequest & { readonly cap: Cap },
): Promise<CapLending> {
  const { accountId, borrowerId, neededNanoUsd, cap } = request
  return database.transaction(async (transaction) => {
    await requireOpenBorrower(transaction, borrowerId)
    await lockAccount(transaction, accountId)
    const room = await readCapRoom(transaction, cap)
    if (room <= 0n) {
      const lent = await readLeases(transaction, accountId, { borrowerId, cap: cap.scope })
      return { lent, roomNanoUsd: 0n, isOverdrawn: room < 0n }
    }
    const amountNanoUsd = sliceOf(room, neededNanoUsd)
    const slice = { scope: cap.scope, amountNanoUsd }
    const lent = await lendFromCap(transaction, accountId, { borrowerId }, slice)
    return { lent, roomNanoUsd: room - amountNanoUsd, isOverdrawn: false }
  })
}

/** Puts back what leases are shorter now. Repeating it changes nothing. */
export function giveBackCredit(
  database: Database,
  { accountId, borrowerId }: Borrowing,
  shortened: readonly Lease[],
): Promise<void> {
  return database.transaction(async (transaction) => {
    await requireOpenBorrower(transaction, borrowerId)
    await shortenLeases(transaction, accountId, shortened)
  })
}

/** Puts everything back. Nothing may be waiting to be committed or posted. */
export function endBorrowing(database: Database, { accountId, borrowerId }: Borrowing): Promise<void> {
  return database.transaction(async (transaction) => {
    await requireOpenBorrower(transaction, borrowerId)
    await endLeases(transaction, accountId, { borrowerId })
  })
}

/** What was lent under each of these caps, null for the credit itself, once nothing that was sent before is under way. */
export async function readLent(
  database: Database,
  { accountId, borrowerId }: Borrowing,
  scopes: readonly (string | null)[],
): Promise<LentAmount[][]> {
  // A lease that is not known here any more may have paid for charges that are not posted.
  await postCharges(database)
  return database.transaction(async (transaction) => {
    await requireOpenBorrower(transaction, borrowerId)
    await lockAccount(transaction, accountId)
    const lent: LentAmount[][] = []
    for (const cap of scopes) lent.push(await readLeases(transaction, accountId, { borrowerId, cap }))
    return lent
  })
}

function sliceOf(availableNanoUsd: NanoUsd, neededNanoUsd: NanoUsd): NanoUsd {
  const share = availableNanoUsd / SLICE_SHARE
  const slice = share < SLICE_NANO_USD_MAX ? share : SLICE_NANO_USD_MAX
  const wanted = slice > neededNanoUsd ? slice : neededNanoUsd
  return wanted < availableNanoUsd ? wanted : availableNanoUsd
}

// First of all locks, as a commit takes them: the two never wait for each other in a circle.
async function requireOpenBorrower(transaction: Queryable, borrowerId: string): Promise<void> {
  const open = await transaction.query(`SELECT ${FROM_LIVING_BORROWER}`, [borrowerId])
  if (open.length === 0) throw new BorrowerClosed(`borrower ${borrowerId} was closed`)
}
