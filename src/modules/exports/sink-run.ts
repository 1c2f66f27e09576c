import { setTimeout as delay } from 'node:timers/promises'
import type { Delivered, ExportSink } from '../../exports/export-sink.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import { keepTrying } from '../../kernel/keep-trying.ts'
import type { Logger } from '../../kernel/logger.ts'
import { scrubUpstreamText } from '../../providers/failures/scrub-upstream-text.ts'
import type { Database } from '../../storage/database.ts'
import { findSettledNumber, readLastNumber } from '../../storage/export-queue/find-settled-number.ts'
import type { LeasedItem } from '../../storage/leased-work/leased-work.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { handBackSink, storeFailure, storeProgress, type ClaimedSink } from './claim-sink.ts'
import { readBatch, readOldestMs, type ReadBatch, type Wanted } from './read-batch.ts'

/** What metrics are told. */
export interface ExportCounts {
  counted(sink: string, outcome: 'sent' | 'refused' | 'missing' | 'skipped', requests: number): void
  failed(sink: string): void
}

export interface OpenedSink {
  readonly sink: ExportSink
  readonly wanted: Wanted
}

export interface SinkRunOptions {
  readonly database: Database
  readonly open: () => Promise<OpenedSink>
  readonly counts: ExportCounts
  readonly logger: Logger
  readonly timing?: Partial<SinkTiming> | undefined
}

interface SinkTiming {
  /** Between looks at an empty queue. */
  readonly pollMs: number
  readonly firstPauseMs: number
  readonly pauseMsMax: number
  /** Of one batch. */
  readonly deliverMsMax: number
}

const TIMING: SinkTiming = {
  pollMs: 1_000,
  firstPauseMs: 500,
  pauseMsMax: 30_000,
  deliverMsMax: 120_000,
}
/** A sink that does not end with its cancellation is left to itself and opened anew. */
const END_MS_MAX = 2_000
const REASON_LENGTH_MAX = 300
const WARN_EVERY_MS = 60_000
/** A batch is halved so often at most when it fails, because a receiver may be too slow for it. */
const HALVES_MAX = 12

class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}

/** Sends requests to one sink, batch by batch, until its claim is lost or the process stops. */
export class SinkRun implements LeasedItem {
  readonly claimed: ClaimedSink
  readonly #options: SinkRunOptions
  readonly #timing: SinkTiming
  readonly #ending = new Cancellation()
  #position: bigint
  #opened: OpenedSink | null = null
  #isWindingDown = false
  #failures = 0
  #halves = 0
  #warnedMs = Number.NEGATIVE_INFINITY

  constructor(claimed: ClaimedSink, options: SinkRunOptions) {
    this.claimed = claimed
    this.#options = options
    this.#timing = { ...TIMING, ...options.timing }
    this.#position = claimed.position
  }

  async perform(): Promise<void> {
    try {
      while (!this.#isWindingDown && !this.#ending.isCancelled) await this.#pause(await this.#tryOnce())
    } finally {
      await this.#closeSink()
      await handBackSink(this.#options.database, this.claimed.claim).catch(() => {})
    }
  }

  lose(): void {
    this.#ending.cancel(new ClaimLost('another process sends to this sink'))
  }

  stop(): void {
    this.#ending.cancel(new ClaimLost('this process stops'))
  }

  windDown(): void {
    this.#isWindingDown = true
    this.#wake()
  }

  /** Sends one batch. Returns how long to wait for the next one. */
  async #tryOnce(): Promise<number> {
    try {
      const isMore = await this.#sendNext()
      this.#failures = 0
      return isMore ? 0 : this.#timing.pollMs
    } catch (error) {
      if (error instanceof ClaimLost) this.lose()
      if (!this.#ending.isCancelled) await this.#noteFailure(error)
      return Math.min(this.#timing.firstPauseMs * 2 ** Math.min(this.#failures, 16), this.#timing.pauseMsMax)
    }
  }

  /** Returns whether there may be more at once. */
  async #sendNext(): Promise<boolean> {
    const { database } = this.#options
    if ((await readLastNumber(database)) <= this.#position) return false
    this.#opened ??= await this.#options.open()
    const { sink, wanted } = this.#opened
    const settled = await findSettledNumber(database)
    if (settled === null || settled <= this.#position) return false
    const requestsMax = Math.max(1, Math.floor(sink.requestsMax / 2 ** this.#halves))
    if (sink.collectMs > 0 && settled - this.#position < BigInt(requestsMax)) {
      const waitedMs = await readOldestMs(database, this.#position)
      if (waitedMs === null || waitedMs < sink.collectMs) return false
    }
    const bytesMax = Math.max(1, Math.floor(sink.bytesMax / 2 ** this.#halves))
    const read = await readBatch(database, {
      position: this.#position,
      settled,
      wanted,
      requestsMax,
      bytesMax,
    })
    if (read === null) return false
    const { refused, reason } = await this.#deliver(sink, read)
    await this.#store(read, refused)
    if (refused > 0)
      this.#warn('the receiver of exports refused requests for ever', reason ?? '', { requests: refused })
    this.#halves = Math.max(0, this.#halves - 1)
    return read.isFull
  }

  async #deliver(sink: ExportSink, { batch }: ReadBatch): Promise<Delivered> {
    if (batch.items.length === 0) return { refused: 0, reason: null }
    const cancellation = new Cancellation()
    const cancel = (reason: unknown): void => cancellation.cancel(reason)
    const { promise: over, reject } = Promise.withResolvers<never>()
    over.catch(() => {})
    cancellation.onCancel((reason) => void setTimeout(() => reject(reason), END_MS_MAX).unref())
    this.#ending.onCancel(cancel)
    const timer = setTimeout(
      () => cancel(new Error(`no confirmation within ${this.#timing.deliverMsMax / 1_000} s`)),
      this.#timing.deliverMsMax,
    )
    try {
      return await Promise.race([sink.deliver(batch, cancellation), over])
    } finally {
      clearTimeout(timer)
      this.#ending.offCancel(cancel)
    }
  }

  /** Only after the receiver has confirmed: a crash before repeats the batch. */
  async #store({ batch, last, missing }: ReadBatch, refused: number): Promise<void> {
    const { database, counts } = this.#options
    const { claim } = this.claimed
    const sent = Math.max(0, batch.items.length - refused)
    const isStored = await keepTrying(
      () => storeProgress(database, claim, { position: last, sent, refused, missing }),
      () => this.#ending.isCancelled,
    )
    if (!isStored) throw new ClaimLost('another process sends to this sink')
    this.#position = last
    counts.counted(claim.name, 'sent', sent)
    counts.counted(claim.name, 'refused', refused)
    counts.counted(claim.name, 'missing', missing)
    if (missing > 0)
      this.#warn('requests were not exported', 'the log does not have them any more', { requests: missing })
  }

  async #noteFailure(failure: unknown): Promise<void> {
    const { database, counts } = this.#options
    const { claim } = this.claimed
    this.#failures += 1
    this.#halves = Math.min(HALVES_MAX, this.#halves + 1)
    const reason = scrubUpstreamText(messageOf(failure)).slice(0, REASON_LENGTH_MAX)
    this.#warn('requests could not be exported yet', reason, { failures: this.#failures })
    counts.failed(claim.name)
    await this.#closeSink()
    const isStanding = await storeFailure(database, claim, reason).catch(() => true)
    if (!isStanding) this.lose()
  }

  async #closeSink(): Promise<void> {
    const opened = this.#opened
    this.#opened = null
    if (opened === null) return
    const closing = opened.sink.close().catch(() => {})
    await Promise.race([closing, delay(END_MS_MAX, undefined, { ref: false })])
  }

  #warn(message: string, reason: string, values: Readonly<Record<string, number>>): void {
    const nowMs = performance.now()
    if (nowMs - this.#warnedMs < WARN_EVERY_MS) return
    this.#warnedMs = nowMs
    this.#options.logger.warn({ sink: this.claimed.claim.name, reason, ...values }, message)
  }

  #wake = (): void => {}

  async #pause(pauseMs: number): Promise<void> {
    if (pauseMs === 0 || this.#isWindingDown || this.#ending.isCancelled) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    this.#ending.onCancel(this.#wake)
    const timer = setTimeout(resolve, pauseMs).unref()
    await promise
    clearTimeout(timer)
    this.#ending.offCancel(this.#wake)
  }
}
