import type { NanoUsd } from '../../../kernel/money.ts'

/** The account borrows in the background when less than this part of the last slice is left. */
const DIVISOR = 4n

/** When an account borrows before its credit runs out. */
export class LowWater {
  #nanoUsd: NanoUsd = 0n
  #isRefilling = false

  /** Sets the mark by the credit after a loan. Null if nothing is left to borrow. */
  set(freeNanoUsd: NanoUsd | null): void {
    this.#nanoUsd = freeNanoUsd === null ? 0n : freeNanoUsd / DIVISOR
  }

  isReached(freeNanoUsd: NanoUsd): boolean {
    return freeNanoUsd < this.#nanoUsd && !this.#isRefilling
  }

  /** Further refills wait until this one ends. */
  await(refill: Promise<void>, onError: (error: unknown) => void): void {
    this.#isRefilling = true
    void refill.catch(onError).finally(() => {
      this.#isRefilling = false
    })
  }
}
