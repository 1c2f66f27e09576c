import type { AppError } from '../../../kernel/app-error.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import { ClientDisconnected } from '../../../kernel/client-disconnected.ts'
import { keepTrying } from '../../../kernel/keep-trying.ts'
import type { LeasedItem } from '../../../storage/leased-work/leased-work.ts'
import { findCharges } from '../../ledger/ledger.ts'
import { advanceBatchedRun } from '../batched/batched-run.ts'
import { adoptCells } from '../cells/adopt-cells.ts'
import { CellWindow, type WaitingCell } from '../cells/cell-window.ts'
import { createCellWriter, type CellWriter } from '../cells/cell-writer.ts'
import { endRun, handBackRun, leaveRun, leaveToBatches, wasCancelled, type ClaimedRun } from './claim-run.ts'
import type { LiveRun } from '../live/live-sender.ts'
import { measureLanes, refreshLaneStats } from '../cells/lane-stats.ts'
import { runCell, type RanCell, type RunCellOptions } from '../cells/run-cell.ts'
import { scoreAnswer } from '../scores/score-cell.ts'
import type { Lane, RunError } from './run.ts'
import type { ExecutionOptions } from './execution-options.ts'
import { readRunCaller } from './run-caller.ts'
import { budgetReached } from './budget-reached.ts'
import { SpendPlan, type Allowance } from './spend-plan.ts'

/** Why work on a run stops early: cancelled by its owner, by this process, or taken over by another. */
type StopReason = 'cancelled' | 'stopping' | 'lost'

const STATS_MS = 3_000

/** Works on one claimed run until it ends or the claim is lost. */
export class RunExecution implements LeasedItem {
  readonly claimed: ClaimedRun
  readonly #options: ExecutionOptions
  readonly #writer: CellWriter
  readonly #live: LiveRun
  readonly #window: CellWindow
  readonly #spend: SpendPlan
  readonly #laneMax: number
  /** Cancels the running calls. */
  readonly #cancellation = new Cancellation()
  /** Whether the claim was lost, so that database operations are no longer retried. */
  #hasGivenUp = false
  readonly #isGivenUp = () => this.#hasGivenUp
  readonly #runningOfLane = new Map<number, number>()
  #running = 0
  #shortOfCredit = 0
  #changed = Promise.withResolvers<void>()
  #why: StopReason | null = null
  #halt: RunError | null = null
  #isBudgetReached = false
  #statsAtMs = performance.now()

  constructor(claimed: ClaimedRun, options: ExecutionOptions) {
    const { run, claim } = claimed
    const { database, clock } = options
    this.claimed = claimed
    this.#options = options
    const writer = createCellWriter({ database, clock }, claim)
    this.#writer = {
      begin: (key) => keepTrying(() => writer.begin(key), this.#isGivenUp),
      end: (end) => keepTrying(() => writer.end(end), this.#isGivenUp),
    }
    this.#live = options.live.open(run.id)
    this.#window = new CellWindow(database, run.id)
    this.#spend = new SpendPlan(run)
    this.#laneMax = Math.max(1, Math.ceil(run.concurrency / run.lanes.length))
  }

  /** Whether only answers of a cancelled run are read to their usage. */
  get isLeaving(): boolean {
    return this.#why === 'cancelled'
  }

  /** Starts no further cells. Running cells may finish until the run is stopped. */
  windDown(): void {
    this.#why ??= 'stopping'
    this.#note()
  }

  /** Stops running cells too. The first reason counts. */
  stop(why: StopReason): void {
    this.#why ??= why
    this.#cut()
  }

  /** The claim does not stand any more, mostly because of a cancellation whose message was lost. */
  lose(): void {
    this.stop('cancelled')
  }

  #cut(): void {
    // A cancelled cell is read to its usage, as if its client had left. A cell that this process interrupts is asked again.
    const isCancelled = this.#why === 'cancelled'
    this.#cancellation.cancel(
      isCancelled ? new ClientDisconnected('the run was cancelled') : new Error('the run was stopped'),
    )
    if (this.#why === 'lost') this.#hasGivenUp = true
    this.#note()
  }

  /** Never rejects. */
  async perform(): Promise<void> {
    const { database, logger } = this.#options
    const { claim, run } = this.claimed
    try {
      if (run.isBatch) {
        if (await this.#advanceBatches()) return await leaveToBatches(database, claim)
      } else await this.#askAll()
      if (this.#why === null && this.#halt === null && run.judge !== null) await this.#judge()
      await keepTrying(() => refreshLaneStats(database, run.id), this.#isGivenUp)
      if (this.#why === 'stopping') await handBackRun(database, claim)
      if (this.#why !== null) return
      await keepTrying(() => measureLanes(database, run, this.#options.findInterval), this.#isGivenUp)
      await keepTrying(() => endRun(database, claim, this.#halt), this.#isGivenUp)
    } catch (error) {
      logger.error({ err: error, runId: run.id }, 'a run could not go on')
      this.#cut()
      await this.#settle()
      // Batches may still be charged, so that one that waits for them is found again in a minute, and goes on.
      if (!run.isBatch) await endRun(database, claim, INTERNAL_ERROR).catch(() => {})
    } finally {
      this.#live.close()
      await keepTrying(() => leaveRun(database, claim), this.#isGivenUp).catch(() => {})
    }
  }

  /** Counts what cells were charged that nobody ended. */
  #adopt(): Promise<bigint> {
    const { run, claim } = this.claimed
    const adopting = () => adoptCells(this.#options.database, { run, claim, writer: this.#writer })
    return keepTrying(adopting, this.#isGivenUp)
  }

  /** Returns whether the run waits for its batches. */
  async #advanceBatches(): Promise<boolean> {
    const { run, claim } = this.claimed
    await this.#adopt()
    const standing = await advanceBatchedRun({
      ...this.#options,
      ...this.#cellOptions(),
      run,
      claim,
      isStopped: () => this.#why !== null,
      onEnd: (key, status) => this.#live.end(key, status),
    })
    if (!standing.isWaiting) this.#halt = standing.halt
    else await refreshLaneStats(this.#options.database, run.id)
    return standing.isWaiting && this.#why === null
  }

  async #askAll(): Promise<void> {
    const { database } = this.#options
    const { run } = this.claimed
    this.#spend.add(await this.#adopt())
    while (this.#why === null && this.#halt === null) {
      await keepTrying(() => this.#window.fill(), this.#isGivenUp)
      this.#changed = Promise.withResolvers()
      while (this.#beginNext());
      if (this.#running === 0) break
      await this.#changed.promise
      await this.#refreshStats()
    }
    await this.#settle()
    if (this.#isBudgetReached && this.#why === null)
      this.#halt ??= await keepTrying(() => budgetReached(database, run), this.#isGivenUp)
  }

  /** Returns whether a cell was started. */
  #beginNext(): boolean {
    const { run } = this.claimed
    if (this.#running >= run.concurrency || this.#why !== null || this.#halt !== null) return false
    const cell = this.#window.take((lane) => (this.#runningOfLane.get(lane) ?? 0) < this.#laneMax)
    if (cell === null) return false
    const lane = run.lanes.find(({ position }) => position === cell.key.lanePosition)
    if (lane === undefined) throw new Error('a cell has a lane that its run has not')
    const allowance = this.#spend.reserve(lane, {
      freeSlots: run.concurrency - this.#running,
      isAlone: this.#running === 0,
      leastNanoUsd: cell.leastNanoUsd ?? 0n,
    })
    if (allowance === null) {
      this.#window.putBack(cell)
      this.#isBudgetReached ||= this.#running === 0
      return false
    }
    void this.#run(cell, lane, allowance)
    return true
  }

  async #run(cell: WaitingCell, lane: Lane, allowance: Allowance): Promise<void> {
    const { position } = lane
    this.#running += 1
    this.#runningOfLane.set(position, (this.#runningOfLane.get(position) ?? 0) + 1)
    let ran: RanCell | null = null
    try {
      ran = await runCell(cell, lane, { ...this.#cellOptions(), amountNanoUsd: allowance.amountNanoUsd })
      if (ran.halt !== null) this.#haltBy(ran.halt)
      if (ran.isCut === true) this.#isBudgetReached = true
      if (ran.status === 'lost') await this.#stopLost()
    } catch (error) {
      this.#options.logger.error({ err: error, runId: this.claimed.run.id }, 'a cell could not be ended')
      this.stop('lost')
    } finally {
      this.#live.end(cell.key, ran?.status ?? 'lost')
      this.#running -= 1
      this.#runningOfLane.set(position, (this.#runningOfLane.get(position) ?? 1) - 1)
      this.#spend.settle(lane, allowance, {
        chargedNanoUsd: ran?.chargedNanoUsd ?? 0n,
        isCompleted: ran?.status === 'completed',
      })
      if (ran?.neededNanoUsd !== undefined)
        this.#window.putBack({ ...cell, wasAsked: true, leastNanoUsd: ran.neededNanoUsd })
      this.#note()
    }
  }

  /** The message of a cancellation may arrive after the first write that fails because of it. */
  async #stopLost(): Promise<void> {
    const { database } = this.#options
    const isCancelled = await keepTrying(() => wasCancelled(database, this.claimed.claim), this.#isGivenUp)
    this.stop(isCancelled ? 'cancelled' : 'lost')
  }

  #cellOptions(): Omit<RunCellOptions, 'amountNanoUsd'> {
    const { ask, askScorer, isBilled, database } = this.#options
    const { run } = this.claimed
    const findCharge = async (requestId: string) =>
      (await keepTrying(() => findCharges(database, run.accountId, [requestId]), this.#isGivenUp)).get(
        requestId,
      ) ?? null
    return {
      accountId: run.accountId,
      ask,
      writer: this.#writer,
      live: this.#live,
      readCaller: () => readRunCaller(this.#options.keys, run, this.#isGivenUp),
      score: (cell, lane, answer) =>
        scoreAnswer(run, { ...cell, lane, answer }, { askScorer, cancellation: this.#cancellation }),
      findCharge: isBilled ? findCharge : null,
      waitForAnother: () => this.#waitForAnother(),
      cancellation: this.#cancellation,
    }
  }

  /** Waits until another cell ends and releases its credit. Cells that wait themselves hold none. */
  async #waitForAnother(): Promise<boolean> {
    if (this.#halt !== null || this.#running - this.#shortOfCredit < 2) return false
    this.#shortOfCredit += 1
    await this.#changed.promise
    this.#shortOfCredit -= 1
    return this.#halt === null
  }

  #haltBy({ code, message }: AppError): void {
    this.#halt ??= { code, message }
  }

  async #settle(): Promise<void> {
    while (this.#running > 0) {
      this.#changed = Promise.withResolvers()
      await this.#changed.promise
    }
  }

  #note(): void {
    this.#changed.resolve()
  }

  async #refreshStats(): Promise<void> {
    const nowMs = performance.now()
    if (nowMs - this.#statsAtMs < STATS_MS) return
    this.#statsAtMs = nowMs
    await refreshLaneStats(this.#options.database, this.claimed.run.id).catch(() => {})
  }

  async #judge(): Promise<void> {
    const { judge } = this.#options
    this.#halt = (await judge?.judgeRun(this.claimed.run, this.#cancellation)) ?? null
  }
}

const INTERNAL_ERROR: RunError = {
  code: 'internal_error',
  message: 'The gateway could not go on with the run.',
}
