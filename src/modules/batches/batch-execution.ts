import { AppError } from '../../kernel/app-error.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import { keepTrying } from '../../kernel/keep-trying.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../../storage/database.ts'
import type { LeasedItem } from '../../storage/leased-work/leased-work.ts'
import type { Files } from '../files/files.ts'
import type { Keys } from '../keys/keys.ts'
import { findCharges, isRefusal, type Ledger } from '../ledger/ledger.ts'
import type { Limits } from '../limits/limits.ts'
import { asRefusal, BatchCaller } from './batch-caller.ts'
import { handBackBatch, type ClaimedBatch } from './claim-batch.ts'
import type { BatchEndpoint, FindEndpoint } from './endpoint.ts'
import { LineThrottle } from './line-throttle.ts'
import { adoptLines } from './lines/adopt-lines.ts'
import { bytesOf, LineWindow, type WaitingLine } from './lines/line-window.ts'
import { createLineWriter, type LineWriter } from './lines/line-writer.ts'
import { readResultRoom, ResultRoom } from './lines/result-room.ts'
import { runLine, slowsDown, type RanLine } from './lines/run-line.ts'
import { failRest, finishBatch } from './results/finish-batch.ts'
import { failBatch, validateBatch } from './validate-batch.ts'

export interface ExecutionOptions {
  readonly database: Database
  readonly clock: Clock
  readonly files: Files
  readonly keys: Pick<Keys, 'callerOf'>
  /** Null if billing is off. */
  readonly ledger: Pick<Ledger, 'lookUpBalanceNanoUsd'> | null
  readonly limits: Pick<Limits, 'describe'>
  readonly findEndpoint: FindEndpoint
  /** Whether the lines of a batch may name different models. */
  readonly allowsSeveralModels: boolean
  readonly logger: Logger
}

/** Why work on a batch stops early: this process stops, or another one has taken it over. */
type StopReason = 'stopping' | 'lost'

/** Of the lines that run, because their bodies take several times as much memory. A longer line runs alone. */
const BYTES_AT_ONCE_MAX = 8 * 1024 * 1024
/** A batch whose check was begun this often without an end is assumed to crash the worker. */
const CHECKS_MAX = 20

/** Works on one claimed batch until it ends or the claim is lost. */
export class BatchExecution implements LeasedItem {
  readonly claimed: ClaimedBatch
  readonly #options: ExecutionOptions
  readonly #endpoint: BatchEndpoint
  readonly #writer: LineWriter
  readonly #window: LineWindow
  #throttle = new LineThrottle(1)
  #room = new ResultRoom(0)
  /** Cancels the running calls. */
  readonly #cancellation = new Cancellation()
  /** Whether the claim was lost, so that database operations are no longer retried. */
  #hasGivenUp = false
  readonly #isGivenUp = () => this.#hasGivenUp
  #running = 0
  #runningBytes = 0
  #changed = Promise.withResolvers<void>()
  #why: StopReason | null = null
  /** It was cancelled: no further line begins, and what runs may end. */
  #isCancelled: boolean
  #halt: AppError | null = null
  readonly #caller: BatchCaller

  constructor(claimed: ClaimedBatch, options: ExecutionOptions) {
    const { batch, claim } = claimed
    const { database, clock, files } = options
    const endpoint = options.findEndpoint(batch.endpoint)
    if (endpoint === undefined) throw new Error(`a batch asks '${batch.endpoint}', which takes no batches`)
    this.claimed = claimed
    this.#options = options
    this.#endpoint = endpoint
    this.#caller = new BatchCaller(options.keys, batch, this.#isGivenUp)
    this.#isCancelled = batch.status === 'cancelling'
    const writer = createLineWriter({ database, clock }, claim)
    this.#writer = {
      begin: (number) => keepTrying(() => writer.begin(number), this.#isGivenUp),
      end: async (end) => {
        const isWritten = await keepTrying(() => writer.end(end), this.#isGivenUp)
        if (end.status !== 'pending') this.#halt ??= this.#room.add(end.result.length)
        return isWritten
      },
    }
    this.#window = new LineWindow(database, batch.id, async (range) => {
      try {
        return await files.open(await files.read(batch, batch.inputFileId), range)
      } catch (error) {
        if (error instanceof AppError && error.code === 'not_found') return null
        throw error
      }
    })
  }

  /** Starts no further lines. Those that run may end. */
  cancel(): void {
    this.#isCancelled = true
    this.#note()
  }

  windDown(): void {
    this.#why ??= 'stopping'
    this.#note()
  }

  stop(why: StopReason): void {
    this.#why ??= why
    this.#cancellation.cancel(new Error('work on the batch was stopped'))
    if (this.#why === 'lost') this.#hasGivenUp = true
    this.#note()
  }

  lose(): void {
    this.stop('lost')
  }

  /** Never rejects. */
  async perform(): Promise<void> {
    const { database, logger } = this.#options
    const { claim, batch } = this.claimed
    try {
      const isBegun = batch.status !== 'validating' || (await this.#validate())
      if (isBegun) {
        if (batch.status !== 'finalizing') await this.#askAll()
        if (this.#why === null) await finishBatch(this.#options, claim)
      }
      if (this.#why === 'stopping') await handBackBatch(database, claim)
    } catch (error) {
      // It is found again, and goes on where it was.
      logger.error({ err: error, batchId: batch.id }, 'work on a batch was interrupted')
      this.stop('lost')
      await this.#settle()
    }
  }

  /** Returns whether its lines may be asked. */
  async #validate(): Promise<boolean> {
    const { batch, claim } = this.claimed
    const caller = claim.number > CHECKS_MAX ? CHECK_FAILED : await this.#caller.current().catch(asRefusal)
    if (caller instanceof AppError) {
      const { code, message } = caller
      await failBatch(this.#options.database, claim, [{ code, message, param: null, line: null }])
      return false
    }
    const options = {
      ...this.#options,
      endpoint: this.#endpoint,
      caller,
      isStopped: () => this.#why !== null,
    }
    return (await validateBatch(batch, claim, options)) === 'begun'
  }

  async #askAll(): Promise<void> {
    const { database, clock } = this.#options
    const { batch, claim } = this.claimed
    await keepTrying(() => adoptLines(database, batch, claim), this.#isGivenUp)
    this.#throttle = await this.#createThrottle()
    this.#room = await keepTrying(() => readResultRoom(database, batch.id), this.#isGivenUp)
    this.#halt = this.#room.add(0)
    while (this.#goesOn() && clock.nowMs() < batch.expiresAtMs) {
      await keepTrying(() => this.#window.fill(), this.#isGivenUp)
      this.#changed = Promise.withResolvers()
      while (this.#beginNext());
      if (this.#running === 0 && this.#window.isEmpty) break
      await this.#waitForChange()
    }
    await this.#settle()
    const halt = this.#halt
    if (halt !== null && this.#why === null)
      await keepTrying(
        () => failRest(database, claim, { code: halt.shownCode, message: halt.message }),
        this.#isGivenUp,
      )
  }

  /** A key that is refused asks nothing: the first line tells it. */
  async #createThrottle(): Promise<LineThrottle> {
    const caller = await this.#caller.current().catch(asRefusal)
    if (caller instanceof AppError) return new LineThrottle(1)
    return new LineThrottle((await this.#options.limits.describe(caller)).concurrentRequests)
  }

  #goesOn(): boolean {
    return this.#why === null && this.#halt === null && !this.#isCancelled
  }

  /** Returns whether a line was begun. */
  #beginNext(): boolean {
    if (!this.#goesOn() || this.#running >= this.#throttle.atOnce) return false
    if (this.#throttle.pauseMs(performance.now()) > 0) return false
    const line = this.#window.take(this.#running === 0 ? Infinity : BYTES_AT_ONCE_MAX - this.#runningBytes)
    if (line === null) return false
    void this.#run(line)
    return true
  }

  async #run(line: WaitingLine): Promise<void> {
    this.#running += 1
    this.#runningBytes += bytesOf(line)
    try {
      const ran = await runLine(line, {
        endpoint: this.#endpoint,
        writer: this.#writer,
        readCaller: () => this.#caller.current(),
        findCharge: this.#options.ledger === null ? null : (requestId) => this.#findCharge(requestId),
        cancellation: this.#cancellation,
        onRates: (rates) => this.#throttle.noteRates(rates, performance.now()),
      })
      this.#leave(line)
      this.#take(ran)
    } catch (error) {
      this.#leave(line)
      this.#options.logger.error({ err: error, batchId: this.claimed.batch.id }, 'a line could not be ended')
      this.stop('lost')
    } finally {
      this.#note()
    }
  }

  #leave(line: WaitingLine): void {
    this.#running -= 1
    this.#runningBytes -= bytesOf(line)
  }

  #take({ status, error, again }: RanLine): void {
    if (status === 'lost') return this.stop('lost')
    if (status !== 'pending') return this.#throttle.noteAnswer()
    if (this.#why !== null || error === null) return
    if (again !== null) this.#window.putBack(again)
    const nowMs = performance.now()
    if (slowsDown(error)) return this.#throttle.slowDown(error.retryAfterSeconds, nowMs)
    // Others of the batch hold credit, which they give back when they end.
    if (isRefusal(error) && (this.#running > 0 || this.#throttle.mayWaitForCredit(nowMs)))
      return this.#throttle.slowDown(null, nowMs)
    this.#halt ??= error
  }

  /** Resolves when a line ends, when the pause is over or when the batch expires. */
  async #waitForChange(): Promise<void> {
    const { clock } = this.#options
    const pauseMs = this.#throttle.pauseMs(performance.now())
    const untilExpiryMs = Math.max(0, this.claimed.batch.expiresAtMs - clock.nowMs())
    const timer = setTimeout(
      () => this.#note(),
      Math.min(untilExpiryMs, pauseMs > 0 ? pauseMs : untilExpiryMs),
    )
    await this.#changed.promise
    clearTimeout(timer)
  }

  async #findCharge(requestId: string) {
    const { database } = this.#options
    const { accountId } = this.claimed.batch
    const found = await keepTrying(() => findCharges(database, accountId, [requestId]), this.#isGivenUp)
    return found.get(requestId) ?? null
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
}

const CHECK_FAILED = new AppError('internal_error', 'The lines of the batch could not be checked.')
