import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../kernel/clock.ts'
import { notFound, type AppError } from '../../kernel/app-error.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { PageRequest } from '../../kernel/page.ts'
import type { Borrower } from '../../storage/borrowing/borrower.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { ChangeActor } from '../audit/audit.ts'
import { PostingSchedule } from './journal/posting-schedule.ts'
import { ChargeWriter } from './journal/charge-writer.ts'
import type { LedgerObserver } from './journal/commit-health.ts'
import { openHold, releaseHold, settleHold, type HoldOrder, type SettleOrder } from './books/stored-hold.ts'
import { CreditPool } from './memory/credit-pool.ts'
import { RECALL_MS_MAX } from './memory/credit-wait.ts'
import { explainCaps, growHold, type GrowOrder } from './books/grow-hold.ts'
import type { AmpleHoldRequest, Charged, Hold, HoldRequest, Payer } from './memory/memory-hold.ts'
import {
  deductCredit,
  grantCredit,
  reverseCredit,
  type DeductOrder,
  type GrantOrder,
  type ReverseOrder,
} from './books/move-credit.ts'
import {
  listEntries,
  walkEntries,
  type EntryFilter,
  type EntryPage,
  type LedgerEntry,
} from './books/list-entries.ts'
import { readBalances, type Balance } from './books/read-ledger.ts'
import type { Cap } from './books/lend-credit.ts'
import { readLimitingBudgets, type LimitingBudget } from './budgets/read-limiting-budgets.ts'
import { readCaps } from './budgets/read-path-budgets.ts'
import { readBudgets, recordBudget, writeBudget, type Budget, type BudgetPeriod } from './books/spend-caps.ts'
import { openHolds, type PlainHoldOrder } from './books/open-holds.ts'
import { settleHolds } from './books/settle-holds.ts'
import { sweepLedger } from './books/sweep-ledger.ts'

export { bumpBudgetsVersion } from './budgets/budgets-version.ts'
export { BUDGET_PERIODS, windowAt, type WindowPeriod } from './budgets/budget-window.ts'
export { countEarlierSpending } from './budgets/count-earlier.ts'
export type { LimitingBudget } from './budgets/read-limiting-budgets.ts'
export {
  parseSubject,
  SUBJECT_KINDS,
  subjectsOf,
  subjectText,
  TAG_LABEL,
  type Subject,
  type SubjectKind,
} from './budgets/subject.ts'
export { carryArchives, carryUsage } from './books/carry-usage.ts'
export { claimLedgerCheck, noteFailedCheck, noteLedgerCheck, readLedgerCheck } from './books/ledger-check.ts'
export { isRefusal, REFUSAL_CODES } from './books/cap-reached.ts'
export { forgetHolds } from './books/stored-hold.ts'
export { hasKeyCap } from './books/spend-caps.ts'
export { findCharges, type FoundCharge } from './journal/find-charges.ts'
export { freeCredit } from './memory/free-credit.ts'
export type { Charged, Hold, Payer } from './memory/memory-hold.ts'
export { reclaimLeases } from './books/lend-credit.ts'
export type { CreditClass } from './books/move-credit.ts'
export type { EntryCharge } from './books/entry-charges.ts'
export { readBalances } from './books/read-ledger.ts'
export { ENTRY_KINDS, type EntryFilter, type LedgerEntry } from './books/list-entries.ts'
export type { BudgetPeriod } from './books/spend-caps.ts'
export { VENDOR_COST_MAX, type UsageRecord, type VendorCost } from './books/usage-record.ts'
export {
  BATCH_FACTOR,
  COST_BATCH_FACTOR,
  COST_VERSION,
  COUNTED,
  IS_BATCH,
  PRICE_ADJUSTMENT,
  PRICE_VERSION,
} from './journal/charge-details.ts'
export { postCharges } from './journal/post-charges.ts'
export { verifyLedger } from './books/verify-ledger.ts'

/** Everything that moves credit. Methods with a transaction are idempotent by key and commit with the caller's rows. */
export interface Ledger {
  /** Holds credit for one request, without waiting while enough is borrowed. Throws if `leastNanoUsd` is not covered. */
  hold(payer: Payer, request: HoldRequest): Hold | Promise<Hold>
  /** Holds from memory only. Returns null if that is not enough; then call `hold`. */
  holdAtOnce(payer: Payer, request: AmpleHoldRequest): Hold | null
  /** The balance as this process knows it; undefined if it has not used the account yet. */
  knownBalanceNanoUsd(accountId: string): NanoUsd | undefined
  /** The balance in the database, which receives charges some seconds later. */
  lookUpBalanceNanoUsd(accountId: string): Promise<NanoUsd>

  grant(transaction: Queryable, order: GrantOrder): Promise<{ isNew: boolean }>
  /** May leave a debt, which suspends spending until it is paid. Call `recall` first. */
  reverse(transaction: Queryable, order: ReverseOrder): Promise<{ isNew: boolean; debtNanoUsd: NanoUsd }>
  /** Throws `conflict` if the account has less. Call `recall` first. */
  deduct(transaction: Queryable, order: DeductOrder): Promise<{ isNew: boolean }>
  /** All caps that apply to this charge of the payer, for `openHold`. */
  capsOf(queryable: Queryable, payer: Payer, charge: TimedCharge): Promise<readonly Cap[]>
  openHold(transaction: Queryable, order: HoldOrder): Promise<{ isNew: boolean }>
  /** Opens many holds and returns the keys of those it opened; call `openHold` for the rest. The keys must be new. */
  openHolds(transaction: Queryable, orders: readonly PlainHoldOrder[]): Promise<ReadonlySet<string>>
  /** Raises a hold as far as possible and returns its new amount. Call `recall` first, and settle in the same transaction. */
  growHold(transaction: Queryable, order: GrowOrder): Promise<NanoUsd>
  /** Returns which budget or limit is the reason that a hold could not grow. Null: none, so that credit is missing. */
  explainCaps(queryable: Queryable, order: Omit<GrowOrder, 'key'>): Promise<AppError | null>
  settleHold(transaction: Queryable, order: SettleOrder): Promise<{ isNew: boolean }>
  /** Settles all of these holds, or throws and settles none. */
  settleHolds(transaction: Queryable, orders: readonly SettleOrder[]): Promise<void>
  releaseHold(transaction: Queryable, key: string): Promise<{ isNew: boolean }>

  /** Resolves when every process has given back the account's credit that it does not use. */
  recall(accountId: string): Promise<void>
  /** Call it after changing an account's credit or budgets. Resolves when every process has read them again. */
  announceChange(accountId: string): Promise<void>

  /** False while charges cannot be written, or while others may have taken back the borrowed credit. */
  isHealthy(): boolean

  readBalance(accountId: string): Promise<Balance>
  readBalances(accountIds: readonly string[]): Promise<ReadonlyMap<string, Balance>>
  /** Newest first, each with the balance after it. */
  listEntries(accountId: string, page: PageRequest, filter?: EntryFilter): Promise<EntryPage>
  /** The same in pages, to the first one. */
  walkEntries(accountId: string, filter: EntryFilter): AsyncIterable<readonly LedgerEntry[]>
  setBudget(
    accountId: string,
    period: BudgetPeriod,
    limitNanoUsd: NanoUsd | null,
    /** Who is named in the audit log of the account. */
    operator?: ChangeActor,
  ): Promise<void>
  readBudgets(accountId: string): Promise<readonly Budget[]>
  /** The budgets that requests of these subjects have to fit into, whatever their model. */
  readLimitingBudgets(accountId: string, subjects: readonly string[]): Promise<readonly LimitingBudget[]>
  /** Resolves when all earlier charges are posted. Call it before reading the tables. */
  postCharges(): Promise<void>
  /** Writes all remaining charges. Requests must have ended or be about to end. */
  close(): Promise<void>
}

/** What is charged, and when: that decides the windows it counts for. */
export interface TimedCharge extends Charged {
  readonly atMs: number
}

export interface LedgerOptions {
  readonly database: Database
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publish' | 'publishAndConfirm' | 'onConnectionLost'>
  readonly borrower: Borrower
  readonly clock: Clock
  readonly logger: Logger
  /** How long a finished answer waits for its charge while the database is unavailable. */
  readonly commitWaitMs: number
  /** How long a request waits for credit that running requests hold; a quarter of a second by default. */
  readonly holdWaitMs?: number
  readonly observer: LedgerObserver
}

const RECALL_TOPIC = 'ledger.recall'
const CHANGE_TOPIC = 'ledger.changed'
const CHANGE_MS_MAX = 1_000
/** How long a change of an account's credit waits for the processes to give it back. */
const OPERATOR_RECALL_MS_MAX = 600
/** The process stops after this even if the database is unavailable. */
const CLOSE_MS_MAX = 5_000

export function createLedger(options: LedgerOptions): Ledger {
  const { database, messageBus, clock } = options
  const recall = createRecall(messageBus, OPERATOR_RECALL_MS_MAX)
  const posting = new PostingSchedule(options)
  const writer = new ChargeWriter({ ...options, posting })
  const announceChange = async (accountId: string): Promise<void> => {
    await messageBus.publishAndConfirm(CHANGE_TOPIC, accountId, { timeoutMs: CHANGE_MS_MAX })
  }
  const recallForRequest = createRecall(messageBus, RECALL_MS_MAX)
  const pool = new CreditPool({ ...options, writer, posting, recall: recallForRequest, announceChange })
  const unsubscribe = [
    messageBus.subscribe(RECALL_TOPIC, (accountId) => pool.giveBack(accountId)),
    messageBus.subscribe(CHANGE_TOPIC, (accountId) => pool.look(accountId)),
    messageBus.onConnectionLost(() => pool.forgetBudgets()),
  ]
  const stopSweeping = sweepLedger(options)
  // An earlier process may have died before posting its charges.
  posting.noteCommitted(0)

  const readBalance = async (accountId: string): Promise<Balance> => {
    await posting.post()
    const balance = (await readBalances(database, [accountId])).get(accountId)
    if (balance === undefined) throw notFound('account')
    return { ...balance, heldNanoUsd: balance.heldNanoUsd + pool.heldNanoUsd(accountId) }
  }

  return {
    hold: (payer, request) => pool.hold(payer, request),
    holdAtOnce: (payer, request) => pool.holdAtOnce(payer, request),
    knownBalanceNanoUsd: (accountId) => pool.balanceNanoUsd(accountId),
    lookUpBalanceNanoUsd: (accountId) => pool.lookUpBalanceNanoUsd(accountId),
    grant: grantCredit,
    reverse: reverseCredit,
    deduct: deductCredit,
    capsOf: readCaps,
    openHold,
    openHolds,
    growHold,
    explainCaps,
    settleHold,
    settleHolds,
    releaseHold,
    recall,
    announceChange,
    isHealthy: () => writer.isHealthy() && options.borrower.isTrusted(),
    readBalance,
    readBalances: async (accountIds) => {
      await posting.post()
      return readBalances(database, accountIds)
    },
    listEntries: async (accountId, page, filter) => {
      await posting.post()
      return listEntries(database, accountId, page, filter)
    },
    walkEntries: async function* (accountId, filter) {
      await posting.post()
      yield* walkEntries(database, accountId, filter)
    },
    setBudget: async (accountId, period, limitNanoUsd, operator) => {
      await database.transaction(async (transaction) => {
        await writeBudget(transaction, accountId, period, limitNanoUsd)
        if (operator !== undefined)
          await recordBudget(transaction, operator, { accountId, period, limitNanoUsd })
      })
      await announceChange(accountId)
    },
    readBudgets: async (accountId) => {
      await posting.post()
      return readBudgets(database, accountId, clock.nowMs())
    },
    readLimitingBudgets: async (accountId, subjects) => {
      await posting.post()
      return readLimitingBudgets(database, { accountId, subjects, nowMs: clock.nowMs() })
    },
    postCharges: () => posting.post(),
    close: async () => {
      for (const stop of unsubscribe) stop()
      stopSweeping()
      const isClosed = await Promise.race([
        writeTheRest(pool, writer, posting),
        delay(CLOSE_MS_MAX, false, { ref: false }),
      ])
      if (!isClosed) options.logger.error({}, 'the process stops with charges that could not be written')
    },
  }
}

/** Two rounds, because a cut request settles after its connection closes, and an undone charge may be made again. */
async function writeTheRest(pool: CreditPool, writer: ChargeWriter, posting: PostingSchedule): Promise<true> {
  for (let round = 1; round <= 2; round += 1) {
    await pool.close()
    await writer.drain()
  }
  await posting.close()
  return true
}

/** Concurrent recalls of one account share one message. */
function createRecall(
  messageBus: LedgerOptions['messageBus'],
  timeoutMs: number,
): (accountId: string) => Promise<void> {
  const running = new Map<string, Promise<void>>()
  return (accountId) => {
    const known = running.get(accountId)
    if (known) return known
    const recalled = messageBus
      .publishAndConfirm(RECALL_TOPIC, accountId, { timeoutMs })
      .then(() => {})
      .finally(() => running.delete(accountId))
    running.set(accountId, recalled)
    return recalled
  }
}

/** The part of an answer's cost that its account could not pay. */
export interface UncoveredCost {
  readonly requestId: string
  readonly accountId: string
  readonly model: string | null
  readonly uncoveredNanoUsd: NanoUsd
  /** The part that the account owes. The rest had no room in a cap or a budget, or is above what the model can cost at all. */
  readonly owedNanoUsd: NanoUsd
}
