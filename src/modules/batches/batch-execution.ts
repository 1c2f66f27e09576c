import type { AppError } from '../../kernel/app-error.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import { keepTrying } from '../../kernel/keep-trying.ts'
import type { LeasedItem } from '../../storage/leased-work/leased-work.ts'
import { isRefusal } from '../ledger/ledger.ts'
import { BatchCaller } from './batch-caller.ts'
import { beginBatch } from './begin-batch.ts'
import { ChangeSignal } from './change-signal.ts'
import { handBackBatch, type ClaimedBatch } from './claim-batch.ts'
import { limitLines, requireEndpoint, type BatchEndpoint } from './endpoint.ts'
import type { ExecutionOptions } from './execution-options.ts'
import { HandedLines } from './handed/handed-lines.ts'
import type { HandedRoom } from './handed/handed-room.ts'
import { createThrottle } from './create-throttle.ts'
import { LineThrottle } from './line-throttle.ts'
import { adoptLines } from './lines/adopt-lines.ts'
import { createFindCharge, type FindCharge } from './lines/find-charge.ts'
import { LinePlaces } from './lines/line-places.ts'
import { openInput } from './lines/open-input.ts'
import { bytesOf, LineWindow, type OpenInput, type WaitingLine } from './lines/line-window.ts'
import { keepWriting } from './lines/kept-writer.ts'
import { createLineWriter, type LineWriter } from './lines/line-writer.ts'
import { readResultRoom, ResultRoom } from './lines/result-room.ts'
import { runLine, slowsDown, type RanLine } from './lines/run-line.ts'
import { failRest, finishBatch } from './results/finish-batch.ts'

/** Why work on a batch stops early: this process stops, or another one has taken it over. */
type StopReason = 'stopping' | 'lost'

/** How long a batch that was cancelled or has expired fetches answers that were charged and then lost. */
const PAID_LINES_MS_MAX = 10 * 60_000
const ROOM_MS = 1_000
const WAIT_MS_MAX = 3_600_000

/** Works on one claimed batch until it ends or the claim is lost. */
export class BatchExecution implements LeasedItem {
  readonly claimed: ClaimedBatch
  readonly accountId: string
  readonly beganMs = performance.now()
  readonly #options: ExecutionOptions
  readonly #endpoint: BatchEndpoint
  readonly #writer: LineWriter
  readonly #handed: HandedLines
  readonly #openInput: OpenInput
  readonly #findCharge: FindCharge | null
  #window: LineWindow
  #throttle = new LineThrottle(1)
  #room = new ResultRoom(0)
  /** Cancels the running calls. */
  readonly #cancellation = new Cancellation()
  /** Ends the waiting of lines that no model was asked yet. */
  #withdrawal = new Cancellation()
  /** Whether the claim was lost, so that database operations are no longer retried. */
  #hasGivenUp = false
  readonly #isGivenUp = () => this.#hasGivenUp
  readonly #change = new ChangeSignal()
  readonly #places: LinePlaces
  /** Lines that the last worker handed over are begun. */
  #isTakingOver = false
  #why: StopReason | null = null
  /** It was cancelled: no further line begins, and what runs may end. */
  #isCancelled: boolean
  #halt: AppError | null = null
  /** How long the last line could not begin. A pause that ends right after that is still waited for: nothing else may end the wait. */
  #pausedMs = 0
  readonly #caller: BatchCaller

  /** @param room for the lines of this process that wait for vendors */
  constructor(claimed: ClaimedBatch, options: ExecutionOptions, room: HandedRoom) {
    const { batch, claim } = claimed
    const { database, clock } = options
    this.claimed = claimed
    this.accountId = batch.accountId
    this.#options = options
    this.#endpoint = limitLines(requireEndpoint(options.findEndpoint, batch.endpoint), batch)
    this.#places = new LinePlaces(() => this.#change.note(), this.#endpoint.answerBytesUsual)
    this.#caller = new BatchCaller(options.keys, batch, this.#isGivenUp)
    this.#isCancelled = batch.status === 'cancelling'
    const writer = createLineWriter({ database, clock, pace: options.pace }, claim)
    this.#writer = keepWriting(writer, this.#isGivenUp, (length) => {
      this.#places.noteAnswer(length)
      this.#halt ??= this.#room.add(length)
    })
    const open: OpenInput = (range) => openInput(options.files, batch, range)
    this.#openInput = open
    this.#findCharge = options.ledger && createFindCharge(database, batch.accountId, this.#isGivenUp)
    this.#window = this.#openWindow()
    this.#handed = new HandedLines({
      ...options,
      claim,
      room,
      caller: this.#caller,
      results: () => this.#room,
      isComing: () => this.#places.running > 0 || (this.#mayBegin() && !this.#window.isEmpty),
      onChange: () => this.#change.note(),
      onFailure: (error) => this.#lose(error),
    })
  }

  /** Starts no further lines. Those that run may end. */
  cancel(): void {
    this.#isCancelled = true
    this.#handed.end()
    this.#change.note()
  }

  get isEnding(): boolean {
    return this.#why !== null
  }

  windDown(): void {
    this.#why ??= 'stopping'
    this.#handed.stop()
    this.#change.note()
  }

  stop(why: StopReason): void {
    this.#why ??= why
    this.#cancellation.cancel(new Error('work on the batch was stopped'))
    if (this.#why === 'lost') this.#hasGivenUp = true
    this.#handed.stop()
    this.#change.note()
  }

  lose(): void {
    this.stop('lost')
  }

  /** Never rejects. */
  async perform(): Promise<void> {
    const { database, logger } = this.#options
    const { claim, batch } = this.claimed
    try {
      const isBegun = await beginBatch(this.claimed, {
        ...this.#options,
        endpoint: this.#endpoint,
        readCaller: () => this.#caller.current(),
        isStopped: () => this.#why !== null,
      })
      if (isBegun) {
        if (batch.status !== 'finalizing') await this.#askAll()
        if (this.#why === null) await finishBatch(this.#options, claim)
      }
      if (this.#why === 'stopping') await handBackBatch(database, claim)
    } catch (error) {
      // It is found again, and goes on where it was.
      logger.error({ err: error, batchId: batch.id }, 'work on a batch was interrupted')
      this.stop('lost')
      await this.#change.waitUntil(() => this.#places.begun === 0)
    }
  }

  async #askAll(): Promise<void> {
    const { database, clock } = this.#options
    const { batch, claim } = this.claimed
    await keepTrying(() => adoptLines(database, batch, claim), this.#isGivenUp)
    this.#throttle = await createThrottle(() => this.#caller.current(), this.#options.limits)
    this.#room = await keepTrying(() => readResultRoom(database, batch.id), this.#isGivenUp)
    const parts = await keepTrying(() => this.#handed.load(), this.#isGivenUp)
    if (parts.length > 0) await this.#takeOver(parts)
    this.#halt ??= this.#room.add(0)
    await this.#askUntil(batch.expiresAtMs, () => !this.#isCancelled)
    if (this.#goesOn()) {
      this.#window = new LineWindow(database, batch.id, this.#openInput, { isPaidOnly: true })
      await this.#askUntil(clock.nowMs() + PAID_LINES_MS_MAX, () => true)
    }
    if (this.#why === null) await this.#handed.close()
    const halt = this.#halt
    if (halt !== null && this.#why === null)
      await keepTrying(
        () => failRest(database, claim, { code: halt.shownCode, message: halt.message }),
        this.#isGivenUp,
      )
  }

  /** A vendor has the lines of these parts: their answers are taken whatever else happened to the batch. */
  async #takeOver(parts: readonly string[]): Promise<void> {
    const { id } = this.claimed.batch
    while (this.#why === null && !this.#handed.beginTakeOver()) {
      this.#change.reset()
      await this.#change.wait(ROOM_MS)
    }
    this.#isTakingOver = true
    this.#window = new LineWindow(this.#options.database, id, this.#openInput, { ofParts: parts })
    await this.#askUntil(Infinity, () => this.#isTakingOver, 'handed')
    this.#isTakingOver = false
    // A part of a batch that has ended already is not sent any more.
    if (this.#isCancelled || this.#options.clock.nowMs() >= this.claimed.batch.expiresAtMs) this.#handed.end()
    this.#handed.resume()
    this.#window = this.#openWindow()
  }

  /** Of all lines that have not ended. */
  #openWindow(): LineWindow {
    const { id } = this.claimed.batch
    return new LineWindow(this.#options.database, id, this.#openInput, { ahead: this.#writer })
  }

  /** Asks the lines of the window while they are wanted, until all have ended, or wait for a vendor. What runs then may end. */
  async #askUntil(
    endMs: number,
    isWanted: () => boolean,
    until: 'ended' | 'handed' = 'ended',
  ): Promise<void> {
    const { clock } = this.#options
    this.#withdrawal = new Cancellation()
    while (this.#goesOn() && isWanted() && clock.nowMs() < endMs) {
      // What changes while lines are read ends the wait below.
      this.#change.reset()
      await keepTrying(() => this.#window.fill(() => this.#change.note()), this.#isGivenUp)
      while (isWanted() && this.#beginNext());
      if (this.#window.isEmpty && (until === 'ended' ? this.#places.begun : this.#places.running) === 0) break
      await this.#waitForChange(endMs - clock.nowMs())
    }
    await this.#window.close()
    if (until === 'handed') return
    this.#withdrawal.cancel(new Error('the batch asks nothing more'))
    while (this.#places.begun > 0) {
      const leftMs = endMs - clock.nowMs()
      if (!isWanted() || leftMs <= 0) this.#handed.end()
      this.#change.reset()
      await this.#change.wait(leftMs > 0 ? Math.min(leftMs, WAIT_MS_MAX) : null)
    }
  }

  #goesOn(): boolean {
    return this.#why === null && this.#halt === null
  }

  #mayBegin(): boolean {
    const nowMs = performance.now()
    this.#pausedMs = Math.max(this.#throttle.pauseMs(nowMs), this.#options.pace.pauseMs(nowMs))
    return this.#goesOn() && !this.#handed.isFull && this.#pausedMs === 0
  }

  /** Returns whether a line was begun. */
  #beginNext(): boolean {
    if (!this.#mayBegin() || this.#places.running >= this.#throttle.atOnce) return false
    const line = this.#window.take(this.#places.room)
    if (line === null) return false
    this.#options.pace.noteBegun(bytesOf(line), performance.now())
    void this.#run(line)
    return true
  }

  async #run(line: WaitingLine): Promise<void> {
    const place = this.#places.begin(line)
    try {
      const ran = await runLine(line, {
        endpoint: this.#endpoint,
        writer: this.#writer,
        baseUrl: this.claimed.batch.baseUrl ?? undefined,
        caller: this.#caller,
        findCharge: this.#findCharge,
        cancellation: this.#cancellation,
        withdrawal: this.#withdrawal,
        hand: (caller, body) =>
          line.isSingle
            ? null
            : this.#handed.callOf(line.number, this.#endpoint.handingOf(caller, body), place.hand),
        onAnswered: place.answer,
        onRates: (rates) => this.#throttle.noteRates(rates, performance.now()),
      })
      place.end()
      this.#take(ran)
    } catch (error) {
      place.end()
      this.#lose(error)
    }
  }

  #lose(error: unknown): void {
    this.#options.logger.error({ err: error, batchId: this.claimed.batch.id }, 'a line could not be ended')
    this.stop('lost')
  }

  #take({ status, error, again }: RanLine): void {
    if (status === 'lost') return this.stop('lost')
    if (status !== 'pending') return this.#throttle.noteAnswer()
    if (this.#why !== null || this.#withdrawal.isCancelled) return
    if (again !== null) this.#window.putBack(again)
    if (error === null) return
    const nowMs = performance.now()
    if (slowsDown(error)) return this.#throttle.slowDown(error.retryAfterSeconds, nowMs)
    // Others of the batch hold credit, which they give back when they end. Those of a vendor end after all were taken over.
    const others = this.#isTakingOver ? this.#places.running : this.#places.begun
    if (isRefusal(error) && (others > 0 || this.#throttle.mayWaitForCredit(nowMs)))
      return this.#throttle.slowDown(null, nowMs)
    if (isRefusal(error) && this.#isTakingOver) this.#isTakingOver = false
    else this.#halt ??= error
  }

  /** Resolves when a line ends, when the pause is over or when the time is. */
  #waitForChange(leftMs: number): Promise<void> {
    // Another batch may free room. No message says when.
    const waitMs = Math.min(leftMs, this.#handed.isFull ? ROOM_MS : WAIT_MS_MAX)
    return this.#change.wait(Math.min(waitMs, this.#pausedMs || waitMs))
  }
}
