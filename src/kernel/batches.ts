import { AsyncLocalStorage } from 'node:async_hooks'

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** Performs items in batches: items that arrive while a batch runs form the next one. A single item does not wait. */
export class Batches<Item, Result> {
  readonly #perform: (items: readonly Item[]) => Promise<readonly Result[]>
  readonly #sizeMax: number
  /** A batch is work for all who added to it, and not for the one that was first. */
  readonly #runForAll = AsyncLocalStorage.snapshot()
  #waiting: Waiting<Item, Result>[] = []
  #isWorking = false

  /** `perform` returns one result per item in the same order, or throws for all of them. */
  constructor(perform: (items: readonly Item[]) => Promise<readonly Result[]>, sizeMax: number) {
    this.#perform = perform
    this.#sizeMax = sizeMax
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (!this.#isWorking) this.#runForAll(() => void this.#performAll())
    })
  }

  async #performAll(): Promise<void> {
    this.#isWorking = true
    // Include all items that are added in this turn of the event loop.
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
    // Set synchronously after the check, so that an item added later starts a new batch.
    this.#isWorking = false
  }
}
