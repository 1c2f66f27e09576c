import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { InferenceRequest } from '../../inference/inference.ts'

/** The files in base64, the body that they become a part of, its text, and its bytes. */
const COPIES = 4
/** Of one process. A single request takes less than half of it. */
const MEMORY_BYTES_MAX = 256 * 1024 * 1024

interface RoomOrder {
  readonly accountId: string
  /** What the files add to the text of the request. */
  readonly textBytes: number
  readonly cancellation: Cancellation
}

interface Waiting {
  readonly accountId: string
  readonly bytes: number
  readonly start: () => void
}

/**
 * The memory for files of requests that belong to no connection: lines of batches, and responses in the background. They wait until
 * there is room. An account has half of it at most.
 */
export class FileRoom {
  readonly #bytesMax: number
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0
  #waiting: Waiting[] = []

  constructor(bytesMax: number = MEMORY_BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /** Returns what gives the room back. Throws if the request is cancelled before there is room. */
  async take({ accountId, textBytes, cancellation }: RoomOrder): Promise<() => void> {
    cancellation.throwIfCancelled()
    const bytes = textBytes * COPIES
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        accountId,
        bytes,
        start: () => {
          cancellation.offCancel(leave)
          resolve()
        },
      }
      const leave = (reason: unknown): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
        reject(reason instanceof Error ? reason : new Error('cancelled', { cause: reason }))
        this.#startNext()
      }
      cancellation.onCancel(leave)
      this.#waiting.push(waiting)
      this.#startNext()
    })
    return () => {
      this.#count(accountId, -bytes)
      this.#startNext()
    }
  }

  /** In their order, except that nobody waits for an account that has its half. */
  #startNext(): void {
    const held = new Set<string>()
    for (const next of this.#waiting) {
      if (held.has(next.accountId)) continue
      const own = this.#bytesOf.get(next.accountId) ?? 0
      if (own > 0 && own + next.bytes > this.#bytesMax / 2) {
        held.add(next.accountId)
        continue
      }
      if (this.#bytes > 0 && this.#bytes + next.bytes > this.#bytesMax) return
      this.#waiting = this.#waiting.filter((other) => other !== next)
      this.#count(next.accountId, next.bytes)
      next.start()
    }
  }

  #count(accountId: string, bytes: number): void {
    this.#bytes += bytes
    const own = (this.#bytesOf.get(accountId) ?? 0) + bytes
    if (own > 0) this.#bytesOf.set(accountId, own)
    else this.#bytesOf.delete(accountId)
  }
}

/** Fills in the files of a request in memory that is counted with its connection, or waited for, and works with it. */
export async function inFileRoom<Body, Result>(
  room: FileRoom,
  request: InferenceRequest<Body>,
  fill: (takeRoom: (textBytes: number) => void | Promise<void>) => Promise<InferenceRequest<Body>>,
  work: (filled: InferenceRequest<Body>) => Promise<Result>,
): Promise<Result> {
  const { caller, cancellation, countRead, handOver } = request
  if (countRead !== undefined) return work(await fill(countRead))
  let giveBack = (): void => {}
  try {
    const filled = await fill(async (textBytes) => {
      giveBack = await room.take({ accountId: caller.accountId, textBytes, cancellation })
    })
    if (handOver === undefined) return await work(filled)
    // The vendor's answer takes hours. Until then the line counts where it waits.
    giveBack()
    giveBack = () => {}
    return await work(filled)
  } finally {
    giveBack()
  }
}
