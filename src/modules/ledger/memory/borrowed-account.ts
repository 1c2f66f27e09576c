import type { NanoUsd } from '../../../kernel/money.ts'
import { Turns } from '../../../kernel/turns/turns.ts'
import type { Database } from '../../../storage/database.ts'
import { borrowFromCaps, endBorrowing, giveBackCredit, readLent } from '../books/borrow-credit.ts'
import type { Borrowing } from '../books/borrow-credit.ts'
import { CapCredits, type CreditSources } from './cap-credit.ts'
import { CapQueue, giveUpOutdated, missingFor, type CapWait } from './cap-queue.ts'
import type { CreditState } from '../books/lock-account.ts'
import type { AccountBatcher } from './account-batcher.ts'
import type { Charged, Payer } from './memory-hold.ts'
import type { Cap } from '../books/lend-credit.ts'
import { BorrowedBalance, type SpendingOrder } from './borrowed-balance.ts'
import { hasKeyCap } from '../books/spend-caps.ts'
import { KnownBudgets } from '../budgets/known-budgets.ts'
import { LowWater } from './low-water.ts'
import { CreditWaiters, type CreditNeed } from './credit-waiters.ts'

/** Lots that were empty are not read again for so long, unless other processes have given credit back. */
const EMPTY_MS = 50

interface BorrowedAccountOptions extends Borrowing {
  readonly database: Database
  readonly batcher: AccountBatcher
  /** The time of creation, so that a new account does not count as idle. */
  readonly lastUsedMs: number
  /** Whether the database may have leases of this borrower that are not known here. */
  readonly isBehind?: boolean
}

export type { CreditSources } from './cap-credit.ts'

/** The credit of one account that one process has borrowed, and its share of each cap. */
export class BorrowedAccount {
  readonly accountId: string
  /** The borrower id that the leases belong to. */
  readonly borrowerId: string
  readonly #borrowing: Borrowing
  readonly #database: Database
  readonly #batcher: AccountBatcher
  readonly #credit = new BorrowedBalance()
  readonly #creditAlone: CreditSources = { caps: [], balances: [this.#credit] }
  readonly caps = new CapCredits()
  readonly #capQueue = new CapQueue()
  readonly #waiters = new CreditWaiters()
  readonly budgets: KnownBudgets
  /** The account's credit outside this process. */
  #elsewhere: CreditState = { freeNanoUsd: 0n, lentNanoUsd: 0n, debtNanoUsd: 0n }
  readonly #lowWater = new LowWater()
  /** Runs one change at a time, because each sends absolute amounts to the database. */
  readonly #turns = new Turns()
  /** Counts borrow requests and state reads, so that queued calls can skip repeated ones. */
  #asked = 0
  /** What all queued calls of `borrow` need: the database lends it at once. */
  #queuedNanoUsd: NanoUsd = 0n
  #looks = 0
  /** The free lot that is spent first, as of the last read. */
  #nextLot: SpendingOrder | null = null
  #emptyUntilMs = 0
  #isLost = false
  /** A response was lost: the database may have more leases than are known here. */
  #isBehind: boolean
  lastUsedMs: number
  /** Start of the last finished recall, by `performance.now()`. */
  recalledMs = Number.NEGATIVE_INFINITY

  constructor(options: BorrowedAccountOptions) {
    const { database, batcher, accountId, borrowerId } = options
    this.#isBehind = options.isBehind ?? false
    this.lastUsedMs = options.lastUsedMs
    this.#database = database
    this.budgets = new KnownBudgets(database, accountId)
    this.#batcher = batcher
    this.accountId = accountId
    this.borrowerId = borrowerId
    this.#borrowing = { accountId, borrowerId }
  }

  get isLost(): boolean {
    return this.#isLost
  }

  get heldNanoUsd(): NanoUsd {
    return this.#credit.heldNanoUsd
  }

  get debtNanoUsd(): NanoUsd {
    return this.#elsewhere.debtNanoUsd
  }

  noteRecall(beganMs: number): void {
    this.recalledMs = beganMs
    this.#emptyUntilMs = 0
  }

  /** Lent to other processes and to tasks, used or idle. */
  get lentElsewhereNanoUsd(): NanoUsd {
    return this.#elsewhere.lentNanoUsd
  }

  /** The account's whole balance, here and elsewhere, as of the last read. */
  get balanceNanoUsd(): NanoUsd {
    const { freeNanoUsd, lentNanoUsd, debtNanoUsd } = this.#elsewhere
    return freeNanoUsd + lentNanoUsd - debtNanoUsd + this.#credit.freeNanoUsd + this.#credit.heldNanoUsd
  }

  /**
   * What a request takes from. Null if the database must be read first; `isAsked` says it was.
   * @param atMs when the request began, which decides the windows of budgets
   */
  sourcesOf(payer: Payer, charge: Charged, atMs: number, isAsked = false): CreditSources | null {
    const budgets = this.budgets.current
    if (budgets === null) return null
    if (budgets.isEmpty && !hasKeyCap(payer)) return this.#creditAlone
    const caps = budgets.capsOf(payer, charge, atMs)
    const balances = this.caps.balancesUnder(caps, isAsked)
    return balances && { caps, balances: [this.#credit, ...balances] }
  }

  get freeNanoUsd(): NanoUsd {
    return this.#credit.freeNanoUsd
  }

  /** Whether the wanted amount is missing here but can still be borrowed, because another request took the last slice. */
  canBorrowMore(caps: readonly Cap[], wantedNanoUsd: NanoUsd): boolean {
    if (this.#credit.freeNanoUsd < wantedNanoUsd && this.#elsewhere.freeNanoUsd > 0n) return true
    return this.caps.canBorrowMore(caps, wantedNanoUsd)
  }

  /** Borrows in the background before the credit runs out. */
  refillWhenLow(onError: (error: unknown) => void): void {
    if (this.#lowWater.isReached(this.#credit.freeNanoUsd)) this.#lowWater.await(this.borrow(0n), onError)
  }

  async borrow(neededNanoUsd: NanoUsd): Promise<void> {
    if (this.#elsewhere.freeNanoUsd === 0n && performance.now() < this.#emptyUntilMs) return
    const asked = this.#asked
    this.#queuedNanoUsd += neededNanoUsd
    return this.#turns.take(async () => {
      const queuedNanoUsd = this.#queuedNanoUsd
      this.#queuedNanoUsd -= neededNanoUsd
      if (this.#isLost) return
      // A request earlier in the queue may have borrowed enough, or found the lots empty.
      if (neededNanoUsd > 0n && this.#credit.freeNanoUsd >= neededNanoUsd) return
      if (this.#asked > asked && this.#elsewhere.freeNanoUsd === 0n) return
      await this.#borrowSlice(queuedNanoUsd)
    })
  }

  async #borrowSlice(neededNanoUsd: NanoUsd): Promise<void> {
    this.#asked += 1
    const request = { ...this.#borrowing, neededNanoUsd: this.#credit.missingOf(neededNanoUsd) }
    const { lent, state } = await this.#change(() => this.#batcher.borrow(request))
    if (this.#isLost) return
    this.#credit.receive(lent)
    this.#elsewhere = state
    if (state.freeNanoUsd === 0n) this.#emptyUntilMs = performance.now() + EMPTY_MS
    this.#lowWater.set(state.freeNanoUsd === 0n ? null : this.#credit.freeNanoUsd)
    this.wake()
  }

  /** Reads budgets and credit. Called before the first borrow, and again when messages may have been missed. */
  open(): Promise<void> {
    return this.#turns.take(async () => {
      this.caps.doubt()
      await this.#look()
      await this.#exchange()
    })
  }

  /** Reads credit and budgets again. While there is a debt, gives free credit back to pay it. */
  refresh(): Promise<void> {
    const looks = this.#looks
    return this.#turns.take(async () => {
      // A call earlier in the queue has read them.
      if (this.#looks > looks) return
      this.caps.doubt()
      await this.#look()
      await this.#exchange()
      if (this.#elsewhere.debtNanoUsd > 0n && this.#credit.freeNanoUsd > 0n) {
        await this.#giveUp([this.#credit])
        await this.#look()
      }
      this.#waiters.wakeAll()
    })
  }

  /** Borrows under a cap, together with all other requests that wait for theirs. */
  borrowCap(cap: Cap, neededNanoUsd: NanoUsd): Promise<void> {
    const wait = this.#capQueue.add(cap, this.caps.meet(cap), neededNanoUsd)
    return this.#turns.take(async () => {
      const waits = this.#capQueue.takeFrom(wait)
      try {
        if (waits.length > 0 && !this.#isLost) await this.#borrowCaps(waits)
      } catch (error) {
        this.#capQueue.putBack(waits.slice(1))
        throw error
      } finally {
        wait.credit.queuedNanoUsd -= neededNanoUsd
      }
    })
  }

  async #borrowCaps(waits: readonly CapWait[]): Promise<void> {
    await giveUpOutdated(waits, (balances) => this.#giveUp(balances))
    const missing = missingFor(waits)
    if (missing.length === 0) return
    const requests = missing.map(({ request }) => request)
    const lendings = await this.#change(() => borrowFromCaps(this.#database, this.#borrowing, requests))
    if (this.#isLost) return
    for (const [index, lending] of lendings.entries()) missing[index]?.credit.receive(lending)
    this.#waiters.wakeAll()
  }

  /** Gives back all credit that no request holds. */
  giveBack(): Promise<void> {
    return this.#turns.take(async () => {
      this.#lowWater.set(null)
      await this.#giveUp([this.#credit, ...this.caps.balances])
    })
  }

  /** Ends the leases. Nothing may be held or waiting to be committed. */
  end(): Promise<void> {
    return this.#turns.take(async () => {
      this.#isLost = true
      await endBorrowing(this.#database, this.#borrowing)
    })
  }

  /** Whether some of the credit may have expired. */
  mayHaveExpired(nowMs: number): boolean {
    return nowMs >= this.#credit.expiresAtMs
  }

  /** Whether free credit here has expired. */
  hasExpired(nowMs: number): boolean {
    return this.#credit.freeNanoUsd > 0n && this.#credit.hasExpired(nowMs)
  }

  /** The leases were taken back: nothing here may be spent any more. */
  lose(): void {
    this.#isLost = true
    this.#waiters.wakeAll()
  }

  changed(timeoutMs: number, need?: CreditNeed): Promise<void> {
    return this.#waiters.wait(timeoutMs, need)
  }

  /** Called when credit was freed or borrowed. */
  wake(): void {
    this.#waiters.wake(this.#credit)
  }

  async #look(): Promise<void> {
    this.#looks += 1
    const { limits, budgetsVersion, state, nextLot } = await this.#batcher.view(this.#borrowing)
    await this.budgets.update(limits, budgetsVersion)
    this.#elsewhere = state
    this.#nextLot = nextLot
  }

  /** If a free lot should be spent before the free credit here, gives that credit back and borrows the lot. */
  async #exchange(): Promise<void> {
    if (this.#isLost || this.debtNanoUsd > 0n || this.#nextLot === null) return
    if (!this.#credit.hasFreeSpentAfter(this.#nextLot)) return
    await this.#giveUp([this.#credit])
    await this.#borrowSlice(0n)
  }

  /** Whether a new lot could be spent before the free credit here. */
  get mayHoldTooLong(): boolean {
    return !this.#isLost && this.#credit.hasFreeSpentAfter({ class: 'promotional', expiresAtMs: 0 })
  }

  #giveUp(balances: readonly BorrowedBalance[]): Promise<void> {
    return this.#change(async () => {
      const creditNanoUsd = balances.includes(this.#credit) ? this.#credit.freeNanoUsd : 0n
      const shortened = balances.flatMap((balance) => balance.giveUpFree())
      if (shortened.length === 0) return
      await giveBackCredit(this.#database, this.#borrowing, shortened)
      const freeNanoUsd = this.#elsewhere.freeNanoUsd + creditNanoUsd
      this.#elsewhere = { ...this.#elsewhere, freeNanoUsd }
    })
  }

  /** After a lost response, reads the leases again before the next change. */
  async #change<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isBehind) {
      const scopes = [null, ...this.caps.scopes]
      const lent = await readLent(this.#database, this.#borrowing, scopes)
      for (const [index, balance] of [this.#credit, ...this.caps.balances].entries())
        balance.receive(lent[index] ?? [])
    }
    this.#isBehind = true
    const result = await work()
    this.#isBehind = false
    return result
  }
}
