interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Does together what comes together: items that arrive while a batch is being done make the next one. Alone, an item waits
 * for nothing.
 */
export class Batches<Item, Result> {
  readonly #perform: (items: readonly Item[]) => Promise<readonly Result[]>
  readonly #sizeMax: number
  #waiting: Waiting<Item, Result>[] = []
  #isWorking = false

  /** Gives a result for each item, in their order, or throws for all of them. */
  constructor(perform: (items: readonly Item[]) => Promise<readonly Result[]>, sizeMax: number) {
    this.#perform = perform
    this.#sizeMax = sizeMax
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (!this.#isWorking) void this.#performAll()
    })
  }

  async #performAll(): Promise<void> {
    this.#isWorking = true
    // Whatever this turn of the event loop brings goes along.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#sizeMax)
      try {
        const results = await this.#perform(batch.map(({ item }) => item))
        for (const [index, { resolve, reject }] of batch.entries()) {
          const result = results[index]
          if (result === undefined) reject(new Error('a batch gave fewer results than it had items'))
          else resolve(result)
        }
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    // At once, with no turn in between: what comes a moment later finds nobody at work and begins anew.
    this.#isWorking = false
  }
}
