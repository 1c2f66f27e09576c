import type { Clock } from '../../../kernel/clock.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Borrower } from '../../../storage/borrowing/borrower.ts'
import type { Database } from '../../../storage/database.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import { BorrowedAccount, type CreditSources } from './borrowed-account.ts'
import { BorrowerClosed } from '../books/borrow-credit.ts'
import type { PendingCharge } from '../journal/charge-batch.ts'
import type { ChargeWriter } from '../journal/charge-writer.ts'
import { findLateHolders, readCreditState } from '../books/lock-account.ts'
import { AccountBatcher } from './account-batcher.ts'
import { CreditWait } from './credit-wait.ts'
import {
  MemoryHold,
  type AmpleHoldRequest,
  type Hold,
  type HoldKeeper,
  type HoldRequest,
  type Payer,
  type Settlement,
} from './memory-hold.ts'
import type { Cap } from '../books/lend-credit.ts'
import { leastOf } from './borrowed-balance.ts'
import { ChargeAgain, type ChargeAgainOptions } from './charge-again.ts'
import { isCovered, refuseHold, storageAway } from './refuse-hold.ts'

interface CreditPoolOptions extends ChargeAgainOptions {
  readonly database: Database
  readonly borrower: Borrower
  readonly writer: ChargeWriter
  readonly clock: Clock
  /** Makes the other processes give back an account's credit that they do not use. */
  readonly recall: (accountId: string) => Promise<void>
  /** How long a request waits for credit that running requests hold. */
  readonly holdWaitMs?: number
}

const CLOSE_STEP_MS = 100
/** An account that is not used for this long gives back its credit. */
const IDLE_MS = 120_000
const TIDY_MS = 5_000

/** All credit that this process has borrowed. A hold comes from memory; if that is not enough, more is borrowed. */
export class CreditPool implements HoldKeeper {
  readonly #options: CreditPoolOptions
  #accounts = new Map<string, BorrowedAccount>()
  readonly #opening = new Map<string, Promise<BorrowedAccount>>()
  readonly #ending = new Map<string, Promise<void>>()
  readonly #batcher: AccountBatcher
  readonly #chargeAgain: ChargeAgain
  readonly #tidying: NodeJS.Timeout

  constructor(options: CreditPoolOptions) {
    this.#options = options
    this.#batcher = new AccountBatcher(options.database)
    this.#chargeAgain = new ChargeAgain(options, (payer, request) => this.#holdWithWait(payer, request))
    options.borrower.onLost(() => this.#loseEverything())
    this.#tidying = setInterval(() => void this.#tidy(), TIDY_MS).unref()
  }

  hold(payer: Payer, request: HoldRequest): Hold | Promise<Hold> {
    return this.holdAtOnce(payer, request) ?? this.#holdWithWait(payer, request)
  }

  holdAtOnce(payer: Payer, request: AmpleHoldRequest): Hold | null {
    const { borrower, writer, clock } = this.#options
    if (!borrower.isTrusted() || !writer.isHealthy()) throw storageAway()
    const account = this.#accounts.get(payer.accountId)
    if (account === undefined || account.debtNanoUsd > 0n) return null
    account.lastUsedMs = clock.monotonicMs()
    if (account.mayHaveExpired(clock.nowMs())) return null
    const sources = account.sourcesOf(payer, request, request.atMs ?? clock.nowMs())
    const hold = sources && this.#tryHold(account, payer, sources, request.wantedNanoUsd)
    if (hold !== null) account.refillWhenLow(this.#noteFailure)
    return hold
  }

  balanceNanoUsd(accountId: string): NanoUsd | undefined {
    return this.#accounts.get(accountId)?.balanceNanoUsd
  }

  async lookUpBalanceNanoUsd(accountId: string): Promise<NanoUsd> {
    // The first request will borrow anyway, so open the account and use what that reads.
    if (!this.#accounts.has(accountId)) return (await this.#openAccount(accountId)).balanceNanoUsd
    const state = await readCreditState(this.#options.database, accountId)
    return state.freeNanoUsd + state.lentNanoUsd - state.debtNanoUsd
  }

  heldNanoUsd(accountId: string): NanoUsd {
    return this.#accounts.get(accountId)?.heldNanoUsd ?? 0n
  }

  /** Called when another process needs the credit or the operator takes it. */
  async giveBack(accountId: string): Promise<void> {
    await this.#ending.get(accountId)
    const account = this.#accounts.get(accountId)
    if (account) await this.#unlessClosed(account, account.giveBack())
  }

  /** Called when the account's budgets or credit changed. */
  async look(accountId: string): Promise<void> {
    const account = this.#accounts.get(accountId) ?? (await this.#opening.get(accountId))
    if (account) await this.#unlessClosed(account, account.refresh())
  }

  /** Called when messages about changes may have been missed. */
  forgetBudgets(): void {
    for (const account of this.#accounts.values()) account.budgets.forget()
  }

  write(charge: PendingCharge): Promise<void> {
    return this.#chargeAgain.noteDebt(charge, this.#options.writer.write(charge))
  }

  chargeAnew(payer: Payer, settlement: Settlement): Promise<void> {
    return this.#chargeAgain.charge(payer, settlement)
  }

  async borrowMore(payer: Payer, caps: readonly Cap[], neededNanoUsd: NanoUsd): Promise<void> {
    const account = this.#accounts.get(payer.accountId)
    if (account === undefined) return
    try {
      await this.#borrowMissing(account, caps, neededNanoUsd)
      if (isCovered(account, caps, neededNanoUsd)) return
      account.noteRecall(await new CreditWait({}).recall(() => this.#options.recall(payer.accountId)))
      await this.#borrowMissing(account, caps, neededNanoUsd)
    } catch (error) {
      this.#noteFailure(error)
    }
  }

  /** Resolves when no request holds credit and no charge is being repeated. */
  async close(): Promise<void> {
    clearInterval(this.#tidying)
    for (const account of this.#accounts.values()) {
      while (account.heldNanoUsd > 0n && !account.isLost) await account.changed(CLOSE_STEP_MS)
    }
    await this.#chargeAgain.ended()
  }

  #tryHold(
    account: BorrowedAccount,
    payer: Payer,
    { caps, balances }: CreditSources,
    amountNanoUsd: NanoUsd,
  ): Hold | null {
    for (const balance of balances) if (balance.freeNanoUsd < amountNanoUsd) return null
    for (const balance of balances) balance.tryHold(amountNanoUsd)
    return new MemoryHold({ keeper: this, account, payer, amountNanoUsd, caps, balances })
  }

  async #holdWithWait(payer: Payer, request: HoldRequest): Promise<Hold> {
    const { clock, holdWaitMs } = this.#options
    const wait = new CreditWait({ ...request, holdWaitMs })
    for (;;) {
      request.cancellation?.throwIfCancelled()
      const account = await this.#openAccount(payer.accountId)
      account.lastUsedMs = clock.monotonicMs()
      await this.#prepare(account)
      const atMs = request.atMs ?? clock.nowMs()
      const caps = account.budgets.latest.capsOf(payer, request, atMs)
      await this.#borrowMissing(account, caps, request.wantedNanoUsd)
      if (account.isLost) continue
      const sources = account.sourcesOf(payer, request, atMs, true)
      // The budgets changed while credit was borrowed under the old ones.
      if (sources === null && wait.mayBeginAgain()) continue
      if (sources === null) throw storageAway()
      const isSuspended = account.debtNanoUsd > 0n
      const full = !isSuspended && this.#tryHold(account, payer, sources, request.wantedNanoUsd)
      if (full) return full
      if (!isSuspended && account.canBorrowMore(sources.caps, request.wantedNanoUsd)) continue
      const isWaitOver = wait.isOver
      // Recall idle credit from other processes before refusing, also credit they borrowed after the first recall.
      const mayLieIdle = account.lentElsewhereNanoUsd > 0n || sources.caps.length > 0
      if (mayLieIdle && wait.mayRecall(account.recalledMs)) {
        account.noteRecall(await wait.recall(() => this.#options.recall(payer.accountId)))
        continue
      }
      const free = isSuspended ? 0n : leastOf(sources.balances)
      const part = free >= request.leastNanoUsd && this.#tryHold(account, payer, sources, free)
      if (part) return part
      const isSomeInUse = account.heldNanoUsd > 0n || account.lentElsewhereNanoUsd > 0n
      if (!isSomeInUse || isWaitOver) throw refuseHold(account, sources.caps, request.leastNanoUsd)
      await account.changed(wait.stepMs, request)
    }
  }

  async #borrowMissing(account: BorrowedAccount, caps: readonly Cap[], nanoUsd: NanoUsd): Promise<void> {
    await this.#needingStorage(account, async () => {
      if (account.debtNanoUsd > 0n) await account.refresh()
      if (account.freeNanoUsd < nanoUsd) await account.borrow(nanoUsd)
      await Promise.all(caps.map((cap) => account.borrowCap(cap, nanoUsd)))
    })
  }

  /** Gives expired credit back, and reads the budgets again if messages may have been missed. */
  async #prepare(account: BorrowedAccount): Promise<void> {
    const nowMs = this.#options.clock.nowMs()
    if (account.budgets.current !== null && !account.mayHaveExpired(nowMs)) return
    await this.#needingStorage(account, async () => {
      if (account.mayHaveExpired(nowMs)) await account.giveBack()
      if (account.budgets.current === null) await account.open()
    })
  }

  async #needingStorage(account: BorrowedAccount, work: () => Promise<void>): Promise<void> {
    await this.#unlessClosed(account, work()).catch((error: unknown) => {
      throw storageAway(error)
    })
  }

  /** If this process was declared dead, drops the account's leases and registers the process again. */
  async #unlessClosed(account: BorrowedAccount, work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      if (!(error instanceof BorrowerClosed)) throw error
      account.lose()
      await this.#options.borrower.declareLost(account.borrowerId)
    }
  }

  #openAccount(accountId: string): BorrowedAccount | Promise<BorrowedAccount> {
    const known = this.#accounts.get(accountId)
    if (known && !known.isLost) return known
    const opening = this.#opening.get(accountId) ?? this.#readAccount(accountId)
    this.#opening.set(accountId, opening)
    return opening
  }

  async #readAccount(accountId: string): Promise<BorrowedAccount> {
    try {
      const { borrower } = this.#options
      await this.#ending.get(accountId)
      const known = this.#accounts.get(accountId)
      if (known && !known.isLost) return known
      const account = this.#createAccount(accountId, borrower.id)
      await account.open()
      // This process may have been declared dead meanwhile: nothing can be borrowed under the old id.
      if (account.borrowerId !== borrower.id) account.lose()
      this.#accounts.set(accountId, account)
      return account
    } catch (error) {
      throw storageAway(error)
    } finally {
      this.#opening.delete(accountId)
    }
  }

  #createAccount(accountId: string, borrowerId: string, { isBehind = false } = {}): BorrowedAccount {
    const { database, clock } = this.#options
    const shared = { database, batcher: this.#batcher, lastUsedMs: clock.monotonicMs() }
    return new BorrowedAccount({ ...shared, accountId, borrowerId, isBehind })
  }

  #loseEverything(): void {
    for (const account of this.#accounts.values()) account.lose()
    this.#accounts = new Map()
  }

  async #tidy(): Promise<void> {
    const { clock } = this.#options
    for (const account of this.#accounts.values()) {
      const idleMs = clock.monotonicMs() - account.lastUsedMs
      if (idleMs >= IDLE_MS && account.heldNanoUsd === 0n) await this.#end(account)
      else if (account.hasExpired(clock.nowMs()))
        await this.#unlessClosed(account, account.giveBack()).catch(this.#noteFailure)
    }
    await this.#refreshLotOrder().catch(this.#noteFailure)
  }

  /** Finds new lots that should be spent first, within seconds even if the message about them was lost. */
  async #refreshLotOrder(): Promise<void> {
    for (const account of await findLateHolders(this.#options.database, [...this.#accounts.values()]))
      await this.#unlessClosed(account, account.refresh())
  }

  #end(account: BorrowedAccount): Promise<void> {
    const { accountId, borrowerId } = account
    this.#accounts.delete(accountId)
    // Pending charges need their lease, and the next request must not see a half-ended one.
    const ended = this.#options.writer
      .flush()
      .then(() => this.#options.posting.post())
      .then(() => account.end())
      .catch((error: unknown) => {
        this.#noteFailure(error)
        // Keep the account as behind, so that the next request or the next end finds the remaining leases.
        if (borrowerId === this.#options.borrower.id && !(error instanceof BorrowerClosed))
          this.#accounts.set(accountId, this.#createAccount(accountId, borrowerId, { isBehind: true }))
      })
      .finally(() => this.#ending.delete(accountId))
    this.#ending.set(accountId, ended)
    return ended
  }

  readonly #noteFailure = (error: unknown): void => {
    this.#options.logger.warn({ reason: messageOf(error) }, 'credit could not be borrowed or given back')
  }
}
