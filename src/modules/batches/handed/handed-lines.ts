import { setTimeout as delay } from 'node:timers/promises'
import { createId } from '../../../kernel/identifiers.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { lineIdOf } from '../../../providers/batch/batch-api.ts'
import type { HandedAnswer, HandedRequest, HandOver } from '../../../providers/batch/hand-over.ts'
import { isReadByAll } from '../../../storage/borrowing/capabilities.ts'
import { expectAnswer } from './expect-answer.ts'
import { HandedRoom } from './handed-room.ts'
import { waitsOf, type HandedCall, type HandedPace, type HandedWaits, type Handing } from './handing.ts'
import { released } from './part-lines.ts'
import { readOpenParts } from './part-rows.ts'
import { VendorPart, type PartOptions } from './vendor-part.ts'

interface HandedOptions extends Omit<PartOptions, 'onRefused' | 'waits'> {
  readonly handedPace: HandedPace
  readonly clock: Clock
  /** Of the process. */
  readonly room: HandedRoom
  /** Whether further lines are about to come, so that a part waits for them. */
  readonly isComing: () => boolean
  /** Called when there is room again. */
  readonly onChange: () => void
  /** Called if parts cannot be followed any more. */
  readonly onFailure: (error: unknown) => void
}

/** How long it may take to cancel and delete batches at vendors that no line needs any more. */
const CLOSE_MS_MAX = 30_000

/** The lines of one batch that wait for answers of vendors. */
export class HandedLines {
  readonly #options: HandedOptions
  readonly #waits: HandedWaits
  readonly #room: HandedRoom
  readonly #parts = new Set<VendorPart>()
  readonly #followed = new Set<Promise<void>>()
  /** Of lines that the last worker handed over. */
  readonly #partOfLine = new Map<number, VendorPart>()
  /** The part that takes lines, by where they go. */
  readonly #gathering = new Map<string, { readonly part: VendorPart; readonly timer: NodeJS.Timeout }>()
  readonly #refused = new Set<string>()
  #mayHand = false
  #hasResumed = false
  #isEnding = false
  #stopReason: Error | null = null

  constructor(options: HandedOptions) {
    this.#options = options
    this.#waits = waitsOf(options.handedPace)
    this.#room = new HandedRoom(options.room)
  }

  get isFull(): boolean {
    return this.#room.isFull || (!this.#room.isTakingOver && this.#options.results().isTight)
  }

  /** Lines that wait for a vendor. */
  get count(): number {
    return this.#room.lines
  }

  /** Ids of the parts that the last worker left. Their lines have to be begun between `beginTakeOver` and `resume`. */
  async load(): Promise<readonly string[]> {
    const { database, claim } = this.#options
    // A process of an earlier release would ask lines that a vendor has.
    this.#mayHand = await isReadByAll(database, 'handed_batches')
    for (const { numbers, ...row } of await readOpenParts(database, claim.batchId)) {
      const part = this.#createPart(row)
      this.#parts.add(part)
      for (const number of numbers) this.#partOfLine.set(number, part)
    }
    return [...this.#parts].map(({ row }) => row.id)
  }

  /** Returns whether there is room for the lines of the last worker now. */
  beginTakeOver(): boolean {
    return this.#room.beginTakeOver()
  }

  /** Follows the parts of the last worker. Lines of theirs that were not begun are asked by themselves. */
  resume(): void {
    this.#room.endTakeOver()
    this.#hasResumed = true
    for (const part of this.#parts) this.#follow(part, false)
  }

  /**
   * Returns what the call of a line needs to be handed over. Null: the line is asked by itself.
   * @param onPosted called once it waits for the vendor
   */
  callOf(number: number, handing: Handing | null, onPosted: () => void): HandedLine | null {
    const attached = this.#partOfLine.get(number)
    // Its part goes on without it.
    if (attached !== undefined && this.#hasResumed) return null
    const providerId = attached?.row.provider ?? handing?.providerId
    if (providerId === undefined || this.#stopReason !== null) return null
    const api = this.#options.findBatchApi(providerId)
    if (attached === undefined && (!this.#mayHand || this.#isEnding || api === null)) return null
    return new HandedLine({
      providerId,
      vendorMillionths: api?.priceMillionths ?? 1_000_000n,
      pricedAtMs: attached?.row.createdAtMs ?? null,
      onPosted,
      post: (request, line) => this.#post(request, { number, line, attached, handing }),
    })
  }

  /** The batch was cancelled or has expired. */
  end(): void {
    this.#isEnding = true
    for (const part of this.#parts) part.end()
    for (const { part } of this.#gathering.values()) part.end()
  }

  /** Lets another process go on with the parts. */
  stop(): void {
    this.#stopReason ??= new Error('work on the batch was stopped')
    this.#room.endTakeOver()
    for (const { part, timer } of this.#gathering.values()) {
      clearTimeout(timer)
      part.stop(this.#stopReason)
    }
    for (const part of this.#parts) part.stop(this.#stopReason)
  }

  /** Call it when no line waits any more. It cancels batches at vendors that no line needs, and deletes those whose answers were read. */
  async close(): Promise<void> {
    for (const { timer } of this.#gathering.values()) clearTimeout(timer)
    this.#gathering.clear()
    this.end()
    const closed = new AbortController()
    const tooLong = delay(CLOSE_MS_MAX, undefined, { signal: closed.signal }).catch(() => {})
    await Promise.race([Promise.all(this.#followed), tooLong])
    closed.abort()
    this.stop()
  }

  async #post(request: HandedRequest, { number, line, attached, handing }: Posted): Promise<HandedAnswer> {
    if (this.#stopReason !== null) throw this.#stopReason
    const part = attached ?? this.#gather(request, handing)
    const api = this.#options.findBatchApi(part.row.provider)
    const text = api?.writeLine(lineIdOf(part.name, number), request).replaceAll('\n', ' ') ?? ''
    const bytes = Buffer.byteLength(text)
    this.#room.take(bytes)
    const results = this.#options.results()
    let expectedBytes = expectAnswer(request.body)
    results.expect(expectedBytes)
    const waiting = part.lines.wait(number, text).then((answer) => {
      results.forget(expectedBytes)
      expectedBytes = answer.body.length
      results.expect(expectedBytes)
      return answer
    })
    line.begin(() => {
      this.#room.give(bytes)
      results.forget(expectedBytes)
      part.lines.leave(number)
      this.#options.onChange()
    })
    if (attached === undefined) this.#closeFull(part)
    return waiting
  }

  /** Returns the part that takes the line. Throws if the vendor takes no such lines. */
  #gather({ path, body }: HandedRequest, handing: Handing | null): VendorPart {
    const { findBatchApi, clock } = this.#options
    const waits = this.#waits
    const api = handing === null ? null : findBatchApi(handing.providerId)
    const key = `${handing?.providerId} ${handing?.upstreamModel} ${path}`
    if (handing === null || api === null || this.#isEnding || this.#refused.has(key) || !api.takes(path))
      throw released('The batch API of the vendor takes no such lines.')
    const bytes = Buffer.byteLength(body)
    if (bytes > api.bytesMax / 2 || !this.#room.fits(bytes))
      throw released('The line is too long for the batch API of the vendor.')
    const open = this.#gathering.get(key)
    if (open !== undefined) return open.part
    const part = this.#createPart(
      {
        id: createId(),
        provider: handing.providerId,
        keyMark: api.keyMark,
        path,
        model: handing.upstreamModel,
        createdAtMs: clock.nowMs(),
        isSent: false,
        vendorId: null,
      },
      () => this.#refused.add(key),
    )
    const endMs = performance.now() + waits.gatherMsMax
    const closeOrWait = (): void => {
      if (this.#options.isComing() && performance.now() < endMs) timer.refresh()
      else this.#close(key)
    }
    const timer = setTimeout(closeOrWait, waits.gatherMs)
    this.#gathering.set(key, { part, timer })
    return part
  }

  /** A part that is full is sent at once. */
  #closeFull(part: VendorPart): void {
    const api = this.#options.findBatchApi(part.row.provider)
    if (api === null || (part.lines.size < api.linesMax && part.lines.bytes < api.bytesMax / 2)) return
    for (const [key, open] of this.#gathering) if (open.part === part) this.#close(key)
  }

  #close(key: string): void {
    const open = this.#gathering.get(key)
    if (open === undefined) return
    clearTimeout(open.timer)
    this.#gathering.delete(key)
    this.#parts.add(open.part)
    this.#follow(open.part, true)
  }

  #follow(part: VendorPart, isNew: boolean): void {
    if (this.#isEnding) part.end()
    const followed = part
      .follow(isNew)
      .catch((error: unknown) => {
        part.lines.release(error)
        if (this.#stopReason === null) this.#options.onFailure(error)
      })
      .finally(() => {
        this.#parts.delete(part)
        this.#followed.delete(followed)
      })
    this.#followed.add(followed)
  }

  #createPart(row: VendorPart['row'], onRefused: () => void = () => {}): VendorPart {
    return new VendorPart(row, { ...this.#options, waits: this.#waits, onRefused })
  }
}

interface Posted {
  readonly number: number
  readonly line: HandedLine
  readonly attached: VendorPart | undefined
  readonly handing: Handing | null
}

interface LineOptions extends Omit<HandedCall, 'handOver'> {
  readonly onPosted: () => void
  readonly post: (request: HandedRequest, line: HandedLine) => Promise<HandedAnswer>
}

/** One line that is handed over. */
export class HandedLine implements HandedCall, HandOver {
  readonly providerId: string
  readonly vendorMillionths: bigint
  readonly pricedAtMs: number | null
  readonly #post: LineOptions['post']
  request: HandedRequest | null = null
  #answer: Promise<HandedAnswer> | null = null
  /** Whether the vendor has answered it. */
  hasAnswer = false
  /** Whether that is an answer of the model, and the only one that the line needs. */
  hasGoodAnswer = false
  #isSingle = true
  readonly #onPosted: () => void
  #leave: (() => void) | null = null

  constructor({ providerId, vendorMillionths, pricedAtMs, onPosted, post }: LineOptions) {
    this.#onPosted = onPosted
    this.providerId = providerId
    this.vendorMillionths = vendorMillionths
    this.pricedAtMs = pricedAtMs
    this.#post = post
  }

  get handOver(): HandOver {
    return this
  }

  async post(request: HandedRequest): Promise<HandedAnswer> {
    this.request ??= request
    // The answer of the first request would stand for all of them, and be charged for each.
    this.#isSingle &&= request.path === this.request.path && request.body === this.request.body
    this.hasGoodAnswer &&= this.#isSingle
    if (!this.#isSingle) throw released('A line that takes several requests is not handed over.')
    this.#answer ??= this.#post(request, this).then((answer) => {
      this.hasAnswer = true
      this.hasGoodAnswer = this.#isSingle && answer.status < 300
      return answer
    })
    return this.#answer
  }

  /** It waits for the vendor. */
  begin(leave: () => void): void {
    this.#leave = leave
    this.#onPosted()
  }

  /** To be called when its call has ended. */
  leave(): void {
    this.#leave?.()
  }
}
