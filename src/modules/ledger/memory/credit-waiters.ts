import type { NanoUsd } from '../../../kernel/money.ts'

/** The amounts that a waiting request asks for. */
export interface CreditNeed {
  readonly wantedNanoUsd: NanoUsd
  /** The request takes a part of the wanted amount from here on. */
  readonly leastNanoUsd: NanoUsd
}

interface Waiter extends CreditNeed {
  readonly end: () => void
}

/** Requests that wait until an account has credit for them, in the order of arrival. */
export class CreditWaiters {
  readonly #waiters = new Set<Waiter>()

  /** Resolves when there may be credit for this request, when no request holds any, or after the timeout. */
  wait(timeoutMs: number, { wantedNanoUsd, leastNanoUsd }: CreditNeed = ANY_CHANGE): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
        resolve()
      }
      const waiter = { wantedNanoUsd, leastNanoUsd, end }
      const timer = setTimeout(end, timeoutMs)
      this.#waiters.add(waiter)
    })
  }

  wake({ heldNanoUsd, freeNanoUsd }: { heldNanoUsd: NanoUsd; freeNanoUsd: NanoUsd }): void {
    if (this.#waiters.size === 0) return
    // If no request holds credit, nothing will be freed: the waiting requests are served or refused now.
    if (heldNanoUsd === 0n) this.wakeAll()
    else this.#wakeFor(freeNanoUsd)
  }

  wakeAll(): void {
    for (const { end } of this.#waiters) end()
  }

  /**
   * Wakes the first requests that this amount is enough for. Two hundred requests that all look again at each freed hold
   * would take more time than the answers.
   */
  #wakeFor(freeNanoUsd: NanoUsd): void {
    let leftNanoUsd = freeNanoUsd
    for (const waiter of this.#waiters) {
      if (leftNanoUsd <= 0n) return
      if (waiter.leastNanoUsd > leftNanoUsd) continue
      leftNanoUsd -= waiter.wantedNanoUsd < leftNanoUsd ? waiter.wantedNanoUsd : leftNanoUsd
      waiter.end()
    }
  }
}

const ANY_CHANGE: CreditNeed = { wantedNanoUsd: 0n, leastNanoUsd: 0n }
