interface FairTurnsOptions {
  /** Over all owners. */
  readonly runningMax: number
  readonly ownerRunningMax: number
  readonly ownerWaitingMax: number
}

/** What one owner has running and waiting. */
interface OwnerWork {
  running: number
  readonly waiting: (() => void)[]
}

/**
 * Runs work of many owners with limited concurrency. Owners take turns, so an owner with forty pieces of work delays another one
 * only by those that run already.
 */
export class FairTurns {
  readonly #options: FairTurnsOptions
  readonly #works = new Map<string, OwnerWork>()
  /** Owners with work that waits for the others only, in the order of their turns. */
  readonly #queue: string[] = []
  #running = 0

  constructor(options: FairTurnsOptions) {
    this.#options = options
  }

  /** Returns null if the owner has too much work waiting. */
  take<Result>(owner: string, work: () => Promise<Result>): Promise<Result> | null {
    const turn = this.enter(owner)
    return turn === null ? null : turn.then(work).finally(() => this.leave(owner))
  }

  /** Waits for a turn, which the owner has until it calls `leave`. Returns null if the owner has too much work waiting. */
  enter(owner: string): Promise<void> | null {
    const own = this.#works.get(owner) ?? { running: 0, waiting: [] }
    const isFree = own.running < this.#options.ownerRunningMax && this.#running < this.#options.runningMax
    if (!isFree && own.waiting.length >= this.#options.ownerWaitingMax) return null
    this.#works.set(owner, own)
    return new Promise((resolve) => {
      own.waiting.push(resolve)
      this.#queueUp(owner, own)
      this.#startNext()
    })
  }

  leave(owner: string): void {
    const own = this.#works.get(owner)
    if (own === undefined) return
    own.running -= 1
    this.#running -= 1
    this.#queueUp(owner, own)
    this.#startNext()
    if (own.running === 0 && own.waiting.length === 0) this.#works.delete(owner)
  }

  #queueUp(owner: string, { running, waiting }: OwnerWork): void {
    const mayStart = waiting.length > 0 && running < this.#options.ownerRunningMax
    if (mayStart && !this.#queue.includes(owner)) this.#queue.push(owner)
  }

  #startNext(): void {
    while (this.#running < this.#options.runningMax) {
      const owner = this.#queue.shift()
      const own = owner === undefined ? undefined : this.#works.get(owner)
      if (owner === undefined || own === undefined) return
      own.running += 1
      this.#running += 1
      own.waiting.shift()?.()
      this.#queueUp(owner, own)
    }
  }
}
