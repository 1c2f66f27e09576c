import { AppError } from '../../../kernel/app-error.ts'
import type { HandedAnswer } from '../../../providers/batch/hand-over.ts'

interface WaitingCall {
  readonly text: string
  readonly resolve: (answer: HandedAnswer) => void
  readonly reject: (reason: unknown) => void
}

/** Calls that are finished at once: each charges its answer. */
const FINISHING_MAX = 32

/** There is no answer at the vendor: the line is asked by itself. */
export function released(why: string): AppError {
  return new AppError('service_unavailable', why)
}

/** The lines of one part, each with the call that waits for its answer. */
export class PartLines {
  readonly #waiting = new Map<number, WaitingCall>()
  /** Calls that have not ended: they wait, or got their answer. */
  readonly #open = new Set<number>()
  #changed = Promise.withResolvers<void>()
  bytes = 0

  get size(): number {
    return this.#waiting.size
  }

  /** The text of each line, by its number. */
  get texts(): ReadonlyMap<number, string> {
    return new Map([...this.#waiting].map(([number, { text }]) => [number, text]))
  }

  wait(number: number, text: string): Promise<HandedAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<HandedAnswer>()
    this.#waiting.set(number, { text, resolve, reject })
    this.#open.add(number)
    this.bytes += Buffer.byteLength(text) + 1
    return promise
  }

  /** Gives a line its answer. Returns false if the line has one already, or is not of this part. */
  async answer(number: number, answer: HandedAnswer): Promise<boolean> {
    const call = this.#waiting.get(number)
    if (call === undefined) return false
    this.#waiting.delete(number)
    call.resolve(answer)
    while (this.#open.size - this.#waiting.size >= FINISHING_MAX) await this.#nextChange()
    return true
  }

  /** The call of the line has ended. */
  leave(number: number): void {
    this.#waiting.delete(number)
    if (this.#open.delete(number)) this.#changed.resolve()
  }

  /** Ends every call that still waits. */
  release(reason: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(reason)
    this.#waiting.clear()
    this.#changed.resolve()
  }

  /** Resolves when every call has ended. */
  async settle(): Promise<void> {
    while (this.#open.size > 0) await this.#nextChange()
  }

  #nextChange(): Promise<void> {
    this.#changed = Promise.withResolvers()
    return this.#changed.promise
  }
}
