import { chargeUnconfirmed, commitInDoubt } from './commit-failure.ts'
import type { PaidCharge } from './journal-text.ts'

/** Charges that are committed together. They wait for the same promise, but for those whose answer is out. */
export class ChargeBatch {
  charges: PendingCharge[] = []
  readonly #committed = Promise.withResolvers<void>()
  readonly #confirmed = Promise.withResolvers<void>()
  /** Resolves when nothing of it is left to do, however it went. */
  readonly ended = Promise.withResolvers<void>()
  firstAtMs = 0
  /** Whoever waited was told that nobody knows: what is then found not to be written is written only where its answer is out. */
  isInDoubt = false

  constructor() {
    // Who waits is told; a charge of a client that left has nobody waiting.
    this.#committed.promise.catch(() => {})
    this.#confirmed.promise.catch(() => {})
  }

  promiseTo({ isDelivered }: PendingCharge): Promise<void> {
    return isDelivered ? this.#confirmed.promise : this.#committed.promise
  }

  resolve(): void {
    this.#committed.resolve()
    this.#confirmed.resolve()
  }

  /** Answers that are not out are refused for this reason; what was delivered is charged later. */
  reject(reason: Error): void {
    this.#committed.reject(reason)
    this.#confirmed.reject(chargeUnconfirmed(reason))
  }

  doubt(): void {
    if (this.isInDoubt) return
    this.isInDoubt = true
    this.reject(commitInDoubt())
  }
}

export interface PendingCharge extends PaidCharge {
  /** Where it was borrowed; once that is lost, no lease pays for it any more. */
  readonly account: { readonly isLost: boolean }
  /** Its answer has reached the client already: it is written however long that takes. */
  readonly isDelivered: boolean
  /** Called when it will not be written: what it took is free again. */
  readonly undo: () => void
}
