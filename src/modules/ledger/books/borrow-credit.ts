import type { NanoUsd } from '../../../kernel/money.ts'
import { FROM_LIVING_BORROWER } from '../../../storage/borrowing/living-borrower.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { lockAccount, payDebt, readCreditState, readCreditStates, type CreditState } from './lock-account.ts'
import {
  endLeases,
  lendFromCaps,
  lendFromLots,
  readCapLeases,
  readCapRooms,
  readLeases,
  shortenLeases,
  type Cap,
} from './lend-credit.ts'
import { postCharges } from '../journal/post-charges.ts'
import type { Lease, LentAmount } from '../memory/borrowed-balance.ts'

/** A slice is an eighth of the free credit, so it shrinks with the balance, and has this maximum. */
const SLICE_SHARE = 8n
const SLICE_NANO_USD_MAX = 100_000_000_000n

/** One process and one account of which it borrows. */
export interface Borrowing {
  readonly borrowerId: string
  readonly accountId: string
}

export interface BorrowRequest extends Borrowing {
  /** The amount missing now; a larger slice is lent if possible. */
  readonly neededNanoUsd: NanoUsd
}

export interface BorrowedCredit {
  /** The whole leases, including what was lent before. */
  readonly lent: readonly LentAmount[]
  /** The account's state after lending, without the leases of this borrower. */
  readonly state: CreditState
}

/** The process was declared dead and must register under a new id. */
export class BorrowerClosed extends Error {
  override readonly name = 'BorrowerClosed'
}

/** Borrows a slice of an account: at least the needed amount or all there is, and nothing while there is a debt. */
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
 * The same for many accounts in one transaction. Returns null for accounts that are locked or unknown, and for requests of
 * another borrower: call `borrowCredit` for those.
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

// Locked in one order to avoid deadlocks; locked accounts are skipped, so that no request waits for another account.
const LOCK_WHAT_IS_FREE = `
  SELECT account_id FROM credit_accounts WHERE account_id = ANY ($1::uuid[])
  ORDER BY account_id FOR UPDATE SKIP LOCKED`

/** The accounts must be locked. */
async function lendSlices(
  transaction: Queryable,
  borrowerId: string,
  requests: readonly BorrowRequest[],
): Promise<BorrowedCredit[]> {
  if (requests.length === 0) return []
  const states = await readCreditStates(transaction, requests)
  for (const [index, request] of requests.entries()) {
    const { freeNanoUsd = 0n, debtNanoUsd = 0n } = states[index] ?? {}
    if (freeNanoUsd === 0n || debtNanoUsd === 0n) continue
    // A charge that was just posted left the debt.
    await payDebt(transaction, request.accountId)
    states[index] = await readCreditState(transaction, request.accountId, borrowerId)
  }
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
    // If nothing is lent now, return the existing leases, in case an earlier response was lost.
    const lent =
      lentOf.get(accountId) ?? (await readLeases(transaction, accountId, { borrowerId, cap: null }))
    borrowed.push({ lent, state: { ...state, freeNanoUsd: state.freeNanoUsd - amountNanoUsd } })
  }
  return borrowed
}

/** A cap to borrow from, different from the others of one call. */
export interface CapRequest {
  readonly cap: Cap
  readonly neededNanoUsd: NanoUsd
}

export interface CapLending {
  readonly lent: readonly LentAmount[]
  readonly roomNanoUsd: NanoUsd
  /** Whether more is lent and spent under the cap than it allows. */
  readonly isOverdrawn: boolean
}

/** Borrows a slice of each of these caps in one transaction. Returns how much is left of them for other processes. */
export function borrowFromCaps(
  database: Database,
  { accountId, borrowerId }: Borrowing,
  requests: readonly CapRequest[],
): Promise<CapLending[]> {
  return database.transaction(async (transaction) => {
    await requireOpenBorrower(transaction, borrowerId)
    await lockAccount(transaction, accountId)
    const rooms = await readCapRooms(
      transaction,
      requests.map(({ cap }) => cap),
    )
    const slices = rooms.map(({ cap, roomNanoUsd }, index) => ({
      scope: cap.scope,
      amountNanoUsd: roomNanoUsd <= 0n ? 0n : sliceOf(roomNanoUsd, requests[index]?.neededNanoUsd ?? 0n),
    }))
    const wanted = slices.filter(({ amountNanoUsd }) => amountNanoUsd > 0n)
    const lent = await lendFromCaps(transaction, accountId, { borrowerId }, wanted)
    // If nothing is lent now, the existing leases are told, in case an earlier response was lost.
    const scopes = slices.filter(({ scope }) => !lent.has(scope)).map(({ scope }) => scope)
    const known = await readCapLeases(transaction, accountId, { borrowerId, scopes })
    return rooms.map(({ roomNanoUsd }, index) => {
      const { scope = '', amountNanoUsd = 0n } = slices[index] ?? {}
      const lease = lent.get(scope) ?? known.get(scope)
      return {
        lent: lease === undefined ? [] : [lease],
        roomNanoUsd: roomNanoUsd <= 0n ? 0n : roomNanoUsd - amountNanoUsd,
        isOverdrawn: roomNanoUsd < 0n,
      }
    })
  })
}

/** Lowers leases in the database and returns the difference to the lots. Idempotent. */
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

/** Ends all leases of the account. No charge may be waiting to be committed or posted. */
export function endBorrowing(database: Database, { accountId, borrowerId }: Borrowing): Promise<void> {
  return database.transaction(async (transaction) => {
    await requireOpenBorrower(transaction, borrowerId)
    await endLeases(transaction, accountId, { borrowerId })
  })
}

/** The leases of each of these caps, null for credit. Waits for earlier statements of this borrower. */
export async function readLent(
  database: Database,
  { accountId, borrowerId }: Borrowing,
  scopes: readonly (string | null)[],
): Promise<LentAmount[][]> {
  // A lease that is unknown here may have paid for charges that are not posted.
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

// Always the first lock of a transaction, to avoid deadlocks with the closing of a borrower.
async function requireOpenBorrower(transaction: Queryable, borrowerId: string): Promise<void> {
  const open = await transaction.query(`SELECT ${FROM_LIVING_BORROWER}`, [borrowerId])
  if (open.length === 0) throw new BorrowerClosed(`borrower ${borrowerId} was closed`)
}
