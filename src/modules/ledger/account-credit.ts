import type { NanoUsd } from '../../kernel/money.ts'
import type { Database } from '../../storage/database.ts'
import { borrowFromCap, endBorrowing, giveBackCredit, readLent, type Borrowing } from './borrow-credit.ts'
import { CapCredit } from './cap-credit.ts'
import type { CreditState } from './credit-account.ts'
import type { CreditDesk } from './credit-desk.ts'
import type { Payer } from './hold.ts'
import type { Cap } from './lend-credit.ts'
import { Purse } from './purse.ts'
import { hasKeyCap, listCaps, type BudgetLimits } from './spend-caps.ts'
import { Waiters } from './waiters.ts'

/** Asked for in advance when less than this part of the last slice is left. */
const LOW_WATER_DIVISOR = 4n

interface AccountCreditOptions {
  readonly database: Database
  readonly desk: CreditDesk
  readonly accountId: string
  readonly borrowerId: string
  /** Whoever makes it wants to use it: it is not idle from its first moment. */
  readonly lastUsedMs: number
  /** Whether something may be lent already under this id. */
  readonly isBehind?: boolean
}

/** What one process has borrowed of one account: its credit, and what is left under each cap it met. */
export class AccountCredit {
  readonly accountId: string
  /** Under which id it was borrowed. */
  readonly borrowerId: string
  readonly #database: Database
  readonly #desk: CreditDesk
  readonly #credit = new Purse()
  readonly #creditAlone: readonly Purse[] = [this.#credit]
  readonly #caps = new Map<string, CapCredit>()
  readonly #waiters = new Waiters()
  /** Null while they are not known. */
  #budgets: BudgetLimits | null = null
  /** Of the account, outside this process. */
  #elsewhere: CreditState = { freeNanoUsd: 0n, lentNanoUsd: 0n, debtNanoUsd: 0n }
  #lowWaterNanoUsd: NanoUsd = 0n
  #turn: Promise<unknown> = Promise.resolve()
  #isRefilling = false
  #isLost = false
  /** An answer of the database got lost: it may know of more than is known here. */
  #isBehind: boolean
  lastUsedMs: number

  constructor({ database, desk, accountId, borrowerId, lastUsedMs, isBehind = false }: AccountCreditOptions) {
    this.#isBehind = isBehind
    this.lastUsedMs = lastUsedMs
    this.#database = database
    this.#desk = desk
    this.accountId = accountId
    this.borrowerId = borrowerId
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

  /** In use or idle in other processes. */
  get lentElsewhereNanoUsd(): NanoUsd {
    return this.#elsewhere.lentNanoUsd
  }

  /** All of the account's, here and elsewhere, as of the last look. */
  get balanceNanoUsd(): NanoUsd {
    const { freeNanoUsd, lentNanoUsd, debtNanoUsd } = this.#elsewhere
    return freeNanoUsd + lentNanoUsd - debtNanoUsd + this.#credit.freeNanoUsd + this.#credit.heldNanoUsd
  }

  /** The purses a request of this payer takes from; null when the database has to be asked first, unless it just was. */
  pursesOf(payer: Payer, nowMs: number, isAsked = false): readonly Purse[] | null {
    if (this.#budgets === null) return null
    if (this.#budgets.length === 0 && !hasKeyCap(payer)) return this.#creditAlone
    const purses = [this.#credit]
    for (const { scope, limitNanoUsd } of this.capsOf(payer, nowMs)) {
      const cap = this.#caps.get(scope)
      if (cap === undefined || cap.limitNanoUsd !== limitNanoUsd) return null
      if (cap.isDoubtful && !isAsked) return null
      purses.push(cap.purse)
    }
    return purses
  }

  capsOf(payer: Payer, nowMs: number): Cap[] {
    return listCaps(payer, this.#budgets ?? [], nowMs)
  }

  /** What a request can take from the account's credit. */
  get freeNanoUsd(): NanoUsd {
    return this.#credit.freeNanoUsd
  }

  /** What a request can take under this cap. */
  freeUnderCapNanoUsd(scope: string): NanoUsd {
    return this.#caps.get(scope)?.purse.freeNanoUsd ?? 0n
  }

  /** Whether so much is not here, but more of it can be borrowed: somebody else took what was brought. */
  canBorrowMore(caps: readonly Cap[], wantedNanoUsd: NanoUsd): boolean {
    if (this.#credit.freeNanoUsd < wantedNanoUsd && this.#elsewhere.freeNanoUsd > 0n) return true
    return caps.some(({ scope }) => {
      const cap = this.#caps.get(scope)
      return cap !== undefined && cap.purse.freeNanoUsd < wantedNanoUsd && cap.roomNanoUsd > 0n
    })
  }

  /** Borrows in the background before there is nothing left. */
  refillWhenLow(onError: (error: unknown) => void): void {
    if (this.#credit.freeNanoUsd >= this.#lowWaterNanoUsd || this.#isRefilling) return
    this.#isRefilling = true
    this.borrow(0n)
      .catch(onError)
      .finally(() => {
        this.#isRefilling = false
      })
  }

  borrow(neededNanoUsd: NanoUsd): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#isLost) return
      // Another request that waited in the same line may have brought enough.
      if (neededNanoUsd > 0n && this.#credit.freeNanoUsd >= neededNanoUsd) return
      const { lent, state } = await this.#change(() =>
        this.#desk.borrow({
          ...this.#identity(),
          neededNanoUsd:
            neededNanoUsd > this.#credit.freeNanoUsd ? neededNanoUsd - this.#credit.freeNanoUsd : 0n,
        }),
      )
      if (this.#isLost) return
      this.#credit.receive(lent)
      this.#elsewhere = state
      this.#lowWaterNanoUsd = state.freeNanoUsd === 0n ? 0n : this.#credit.freeNanoUsd / LOW_WATER_DIVISOR
      this.wake()
    })
  }

  get isOpen(): boolean {
    return this.#budgets !== null
  }

  /** Before anything is borrowed, and again when changes may have been missed. */
  open(): Promise<void> {
    return this.#inTurn(async () => {
      this.#doubtCaps()
      await this.#look()
    })
  }

  forgetBudgets(): void {
    this.#budgets = null
  }

  /** Looks how much there is and what the budgets are. While there is a debt, what is free pays it. */
  refresh(): Promise<void> {
    return this.#inTurn(async () => {
      this.#doubtCaps()
      await this.#look()
      if (this.#elsewhere.debtNanoUsd > 0n && this.#credit.freeNanoUsd > 0n) {
        await this.#giveUp([this.#credit])
        await this.#look()
      }
      this.wake()
    })
  }

  borrowCap(cap: Cap, neededNanoUsd: NanoUsd): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#isLost) return
      const known = this.#caps.get(cap.scope) ?? new CapCredit(cap.limitNanoUsd)
      this.#caps.set(cap.scope, known)
      if (known.isDoubtful || known.limitNanoUsd !== cap.limitNanoUsd) {
        // What was borrowed under an old limit may be more than the new one leaves.
        await this.#giveUp([known.purse])
        known.limitNanoUsd = cap.limitNanoUsd
      }
      const missingNanoUsd = neededNanoUsd - known.purse.freeNanoUsd
      if (!known.isDoubtful && missingNanoUsd <= 0n) return
      const { lent, roomNanoUsd, isOverdrawn } = await this.#change(() =>
        borrowFromCap(this.#database, {
          ...this.#identity(),
          cap,
          neededNanoUsd: missingNanoUsd > 0n ? missingNanoUsd : 1n,
        }),
      )
      if (this.#isLost) return
      known.purse.receive(lent)
      known.roomNanoUsd = roomNanoUsd
      // Until what requests hold of it is paid or free again.
      known.isDoubtful = isOverdrawn
      this.wake()
    })
  }

  /** Puts everything back that no request holds. */
  giveBack(): Promise<void> {
    return this.#inTurn(async () => {
      this.#lowWaterNanoUsd = 0n
      await this.#giveUp([this.#credit, ...[...this.#caps.values()].map(({ purse }) => purse)])
    })
  }

  /** Ends the leases. Nothing may be held or waiting to be committed. */
  end(): Promise<void> {
    return this.#inTurn(async () => {
      this.#isLost = true
      await endBorrowing(this.#database, this.#identity())
    })
  }

  /** Whether some of the credit may have expired. */
  mayHaveExpired(nowMs: number): boolean {
    return nowMs >= this.#credit.expiresAtMs
  }

  /** Whether free credit is in here whose time is over. */
  hasExpired(nowMs: number): boolean {
    return this.#credit.freeNanoUsd > 0n && this.#credit.hasExpired(nowMs)
  }

  /** What was borrowed is gone: nothing here may be spent any more. */
  lose(): void {
    this.#isLost = true
    this.wake()
  }

  /** Resolves when credit became free or arrived, or after so long. */
  changed(timeoutMs: number): Promise<void> {
    return this.#waiters.wait(timeoutMs)
  }

  wake(): void {
    this.#waiters.wake()
  }

  /** In turn with those who borrow, because what they have asked may be older than the doubt. */
  #doubtCaps(): void {
    for (const cap of this.#caps.values()) cap.isDoubtful = true
  }

  async #look(): Promise<void> {
    const { budgets, state } = await this.#desk.view(this.#identity())
    this.#budgets = budgets
    this.#elsewhere = state
  }

  #giveUp(purses: readonly Purse[]): Promise<void> {
    return this.#change(async () => {
      const creditNanoUsd = purses.includes(this.#credit) ? this.#credit.freeNanoUsd : 0n
      const shortened = purses.flatMap((purse) => purse.giveUpFree())
      if (shortened.length === 0) return
      await giveBackCredit(this.#database, this.#identity(), shortened)
      const freeNanoUsd = this.#elsewhere.freeNanoUsd + creditNanoUsd
      this.#elsewhere = { ...this.#elsewhere, freeNanoUsd }
    })
  }

  /** What may have happened though its answer got lost is looked up before anything else is changed. */
  async #change<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isBehind) {
      const [credit = [], ...caps] = await readLent(this.#database, this.#identity(), [
        null,
        ...this.#caps.keys(),
      ])
      this.#credit.receive(credit)
      for (const [index, { purse }] of [...this.#caps.values()].entries()) purse.receive(caps[index] ?? [])
    }
    this.#isBehind = true
    const result = await work()
    this.#isBehind = false
    return result
  }

  #identity(): Borrowing {
    return { accountId: this.accountId, borrowerId: this.borrowerId }
  }

  /** One at a time: each of them tells the database whole amounts. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const run = this.#turn.then(work, work)
    this.#turn = run.catch(() => {})
    return run
  }
}
