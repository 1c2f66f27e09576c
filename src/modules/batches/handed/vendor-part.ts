import { setTimeout as delay } from 'node:timers/promises'
import { keepTrying } from '../../../kernel/keep-trying.ts'
import type { Logger } from '../../../kernel/logger.ts'
import { lineNumberOf, UNSURE, type EndedBatch } from '../../../providers/batch/batch-api.ts'
import { UpstreamError } from '../../../providers/failures/upstream-error.ts'
import type { Database } from '../../../storage/database.ts'
import type { BatchCaller } from '../batch-caller.ts'
import type { BatchClaim } from '../batch.ts'
import type { ResultRoom } from '../lines/result-room.ts'
import type { FindBatchApi, HandedWaits } from './handing.ts'
import { PartLines, released } from './part-lines.ts'
import { PartTwins } from './part-twins.ts'
import { nameOfPart, PartVendor } from './part-vendor.ts'
import {
  closePart,
  countLinesOfPart,
  findKnownParts,
  insertPart,
  notePartMade,
  notePartSent,
  type PartRow,
} from './part-rows.ts'

export interface PartOptions {
  readonly database: Database
  readonly claim: BatchClaim
  readonly findBatchApi: FindBatchApi
  readonly waits: HandedWaits
  readonly logger: Logger
  readonly caller: Pick<BatchCaller, 'mayKeepAnswers'>
  /** The room for the answers of the batch. */
  readonly results: () => Pick<ResultRoom, 'isFull' | 'isTight' | 'expect' | 'forget'>
  /** Called when the vendor refuses the part as such: no further lines are handed to it in this way. */
  readonly onRefused: () => void
}

/** How often a part is sent before its lines are asked one by one. */
const SUBMITS_MAX = 8
/** How often in a row the vendor does not know a batch before it counts as lost. */
const LOST_LOOKS = 5
const THROTTLED_MS_MAX = 600_000
/** A vendor sends one result for each line, and a few may stand twice. */
const RESULTS_SPARE = 1_000
/** A process that was stopped for longer than this after it noted a part as sent does not send it: another one may have. */
const SENDING_MS_MAX = 10_000
const AGAIN_STATUSES = new Set([408, 409, 425, 429])

/** One batch at a vendor with lines of ours: it is sent once, followed, and its answers are given to the calls of the lines. */
export class VendorPart {
  readonly row: PartRow
  /** In ids of lines. */
  readonly name: string
  readonly lines = new PartLines()
  readonly #options: PartOptions
  readonly #vendor: PartVendor
  readonly #twins: PartTwins
  readonly #stop = new AbortController()
  /** Ends the pause before the next look at the vendor. */
  readonly #ending = new AbortController()
  #vendorId: string | null
  /** Whether the vendor may have it although its id is not known. */
  #mayExist: boolean
  #askedAtMs = performance.now()
  /** Since when nothing more of the batch is wanted. */
  #endingSinceMs: number | null = null
  #hasCancelled = false
  /** Whether the vendor may have files of it although it has no batch. */
  #hasUpload = false
  /** Answers are not stored any more: what the vendor has of them is deleted. */
  #isErasing = false

  constructor(row: PartRow, options: PartOptions) {
    this.row = row
    this.name = nameOfPart(row)
    this.#options = options
    this.#vendor = new PartVendor(row, options, this.#stop.signal)
    this.#twins = new PartTwins(row, options, this.#vendor)
    this.#vendorId = row.vendorId
    this.#mayExist = row.isSent
  }

  /** The batch was cancelled or has expired: what the vendor has done is taken, and nothing else. */
  end(): void {
    this.#endingSinceMs ??= performance.now()
    this.#ending.abort()
  }

  /** Another process follows it from now on. */
  stop(reason: unknown): void {
    this.#stop.abort(reason)
    this.lines.release(reason)
  }

  /** Resolves when every line has its answer or is released. Rejects if the database fails or the claim is lost. */
  async follow(isNew: boolean): Promise<void> {
    const { database, claim } = this.#options
    const { signal } = this.#stop
    try {
      if (isNew) await this.#store((numbers) => insertPart(database, claim, this.row, numbers))
      else {
        // The last worker may have uploaded it, or may still be sending it.
        this.#hasUpload = this.#vendorId === null
        this.#twins.begin()
      }
      const state = (await this.#submit()) ? await this.#waitForEnd() : null
      if (state !== null) await this.#deliver(state)
      this.lines.release(released('The batch of the vendor has no answer to this line.'))
      await this.lines.settle()
      if (signal.aborted) return
      await this.#twins.cancelOne(this.#vendorId)
      // Before the part is closed: a worker that dies in between leaves this to the next one.
      await this.#tidy(state)
      await this.#store(() => closePart(database, claim, this.row.id))
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  async #store(write: (numbers: readonly number[]) => Promise<boolean>): Promise<void> {
    const numbers = [...this.lines.texts.keys()]
    const isStanding = await keepTrying(
      () => write(numbers),
      () => this.#stop.signal.aborted,
    )
    if (!isStanding) throw new Error('the claim on a batch was lost while a part of it was handed over')
  }

  /** Returns whether the vendor has the part. */
  async #submit(): Promise<boolean> {
    for (let submits = 1; this.#vendorId === null;) {
      if (this.#mayExist) await this.#look()
      if (this.#vendorId !== null) break
      if (this.#mayExist) {
        if (this.#isOver() || this.#isForNobody) return false
        await this.#pause(this.#options.waits.pollMs)
        continue
      }
      if (!(await this.#options.caller.mayKeepAnswers())) this.#erase()
      if (this.#endingSinceMs !== null || this.lines.size === 0 || submits > SUBMITS_MAX) return false
      if (this.#hasUpload) await this.#clear()
      const pauseMs = await this.#trySubmit(submits)
      if (pauseMs === null) return false
      if (pauseMs > 0) await this.#pause(pauseMs)
      submits += 1
    }
    return true
  }

  /** Looks for a part whose submission had no answer. It is sent again only once the vendor surely does not have it. */
  async #look(): Promise<void> {
    const { database, claim, waits } = this.#options
    const { id, provider, createdAtMs } = this.row
    const lineCount = await keepTrying(
      () => countLinesOfPart(database, claim.batchId, id),
      () => this.#stop.signal.aborted,
    )
    const findKnown = (ids: readonly string[]) => findKnownParts(database, provider, ids)
    const sought = { name: this.name, lineCount, sentAtMs: createdAtMs, findKnown }
    const found = await this.#vendor.ask((api, call) => api.find(sought, { ...call, needsOwnKey: true }))
    if (found === undefined || found === UNSURE) return
    if (found !== null) {
      this.#vendorId = found
      await this.#store(() => notePartMade(database, claim, this.row.id, found))
    } else if (performance.now() - this.#askedAtMs > waits.settleMs) {
      this.#mayExist = false
      this.#twins.begin()
    }
  }

  /** Returns how long to wait before the next try, 0 if there was none needed, or null if the vendor refuses the part. */
  async #trySubmit(submits: number): Promise<number | null> {
    const { database, claim, waits, findBatchApi, logger } = this.#options
    const { id, path, model, provider } = this.row
    const api = findBatchApi(provider)
    if (api === null) return null
    let isSent = false
    const { texts } = this.lines
    try {
      const onCreate = async (): Promise<void> => {
        const notedMs = performance.now()
        await this.#store(() => notePartSent(database, claim, id, [...texts.keys()]))
        isSent = true
        if (performance.now() - notedMs > SENDING_MS_MAX) throw sentTooLate(provider)
      }
      this.#hasUpload = true
      const lines = [...texts.values()]
      const vendorId = await api.submit({ name: this.name, path, model, lines, onCreate }, this.#vendor.call)
      this.#vendorId = vendorId
      this.#hasUpload = false
      await this.#store(() => notePartMade(database, claim, id, vendorId)).catch(async (error: unknown) => {
        await this.#twins.abandon(vendorId)
        throw error
      })
      return 0
    } catch (error) {
      if (!(error instanceof UpstreamError) || this.#stop.signal.aborted) throw error
      logger.warn({ reason: error.message, provider }, 'a vendor did not take a batch')
      const { failure, status = 0, retryAfterSeconds } = error.details
      const isRefused = failure === 'status' && status < 500
      this.#askedAtMs = performance.now()
      this.#mayExist = isSent && !(isRefused && status !== 408)
      if (status === 429)
        return Math.min((retryAfterSeconds ?? 0) * 1_000 || waits.pollMs * submits, THROTTLED_MS_MAX)
      if (!isRefused || AGAIN_STATUSES.has(status)) return waits.pollMs * submits
      this.#options.onRefused()
      return null
    }
  }

  /** Null: the vendor has lost it, or did not end it in time. */
  async #waitForEnd(): Promise<EndedBatch | null> {
    const vendorId = this.#vendorId ?? ''
    for (let lostLooks = 0; lostLooks < LOST_LOOKS && !this.#isOver();) {
      if (!(await this.#options.caller.mayKeepAnswers())) this.#erase()
      await this.#twins.cancelOne(this.#vendorId)
      const isForNobody = this.#isForNobody
      if (this.#endingSinceMs !== null && !this.#hasCancelled) {
        // It may have ended meanwhile, which the look tells.
        const isDone = await this.#vendor.ask((api, call) => api.cancel(vendorId, call).then(() => true))
        this.#hasCancelled = isDone === true
      }
      const state = await this.#vendor.ask((api, call) => api.look(vendorId, call))
      if (state?.kind === 'ended') return state
      if (isForNobody) return null
      lostLooks = state?.kind === 'lost' ? lostLooks + 1 : 0
      await this.#pause(this.#options.waits.pollMs)
    }
    return null
  }

  /** Reads the answers until they were read to their end: the vendor bills those that nobody read too. */
  async #deliver(state: EndedBatch): Promise<void> {
    const resultsMax = 2 * this.lines.size + RESULTS_SPARE
    while (this.lines.size > 0 && !this.#isOver()) {
      const isRead = await this.#vendor.ask(async (api, call) => {
        let results = 0
        for await (const result of api.results(state, call)) {
          const number = lineNumberOf(this.name, result.id)
          // Answers that would not be stored are not charged.
          if (this.#options.results().isFull || !(await this.#options.caller.mayKeepAnswers())) return true
          if (number !== null) await this.lines.answer(number, result)
          results += 1
          if (results > resultsMax) break
        }
        return true
      })
      if (isRead === true) return
      await this.#pause(this.#options.waits.pollMs)
    }
  }

  /** Deletes what the vendor stores of the part. Null: nothing is known of a batch that has ended. */
  async #tidy(state: EndedBatch | null): Promise<void> {
    if (state !== null) await this.#vendor.ask(async (api, call) => api.forget?.(state, call))
    else if (this.#hasUpload || this.#vendorId !== null) await this.#clear()
  }

  /** Deletes files that were uploaded for a batch that is not made. */
  async #clear(): Promise<void> {
    const { createdAtMs: sentAtMs } = this.row
    await this.#vendor.ask(async (api, call) => api.clear?.({ name: this.name, sentAtMs }, call))
  }

  #erase(): void {
    this.#isErasing = true
    this.lines.release(released('Answers of the batch are not stored any more.'))
    this.end()
  }

  /** Whether the end has come, and no line waits for it. */
  get #isForNobody(): boolean {
    return this.#endingSinceMs !== null && this.lines.size === 0 && !this.#isErasing
  }

  /** Whether the vendor had its time to end what nobody wants any more. */
  #isOver(): boolean {
    const sinceMs = this.#endingSinceMs
    return sinceMs !== null && performance.now() - sinceMs > this.#options.waits.endMs
  }

  async #pause(pauseMs: number): Promise<void> {
    const [stop, ending] = [this.#stop.signal, this.#ending.signal]
    const signal = ending.aborted ? stop : AbortSignal.any([stop, ending])
    await delay(pauseMs, undefined, { signal }).catch(() => {})
    stop.throwIfAborted()
  }
}

/** It may have been sent by another process meanwhile, and is looked for like one that had no answer. */
function sentTooLate(provider: string): UpstreamError {
  return new UpstreamError(`${provider}: the process was stopped before it sent a batch`, {
    failure: 'timeout',
    provider,
  })
}
