interface FairTurnsOptions {
  /** Over all owners. */
  readonly runningMax: number
  readonly ownerWaitingMax: number
}

/** Work of one owner, in the order of the calls. */
interface OwnerLine {
  last: Promise<unknown>
  count: number
}

/**
 * Runs work of many owners with limited concurrency. Each owner has one piece of work running or queued, so an owner with forty
 * of them delays another one by a single piece.
 */
export class FairTurns {
  readonly #options: FairTurnsOptions
  readonly #lines = new Map<string, OwnerLine>()
  readonly #queue: (() => void)[] = []
  #running = 0

  constructor(options: FairTurnsOptions) {
    this.#options = options
  }

  /** Returns null if the owner has too much work waiting. */
  take<Result>(owner: string, work: () => Promise<Result>): Promise<Result> | null {
    const line = this.#lines.get(owner) ?? { last: Promise.resolve(), count: 0 }
    if (line.count > this.#options.ownerWaitingMax) return null
    line.count += 1
    this.#lines.set(owner, line)
    const result = line.last.then(() => this.#run(work))
    line.last = result
      .catch(() => {})
      .finally(() => {
        line.count -= 1
        if (line.count === 0) this.#lines.delete(owner)
      })
    return result
  }

  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#options.runningMax)
      await new Promise<void>((resolve) => {
        this.#queue.push(resolve)
      })
    else this.#running += 1
    try {
      return await work()
    } finally {
      // The place goes to the next one in the queue, if there is one.
      const next = this.#queue.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}
