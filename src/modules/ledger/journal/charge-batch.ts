import { chargeUnconfirmed, commitInDoubt } from './commit-failure.ts'
import type { PaidCharge } from './journal-text.ts'

/** Charges of one commit. Unsent answers share one promise, delivered answers another. */
export class ChargeBatch {
  charges: PendingCharge[] = []
  readonly #committed = Promise.withResolvers<void>()
  readonly #confirmed = Promise.withResolvers<void>()
  /** Resolves when every charge is written or undone. */
  readonly ended = Promise.withResolvers<void>()
  firstAtMs = 0
  /** Clients were told that the outcome is unknown. If the commit was not written, only delivered answers are charged. */
  isInDoubt = false

  constructor() {
    // Waiting requests see the rejection; a charge of a disconnected client has no listener.
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

  /** Refuses unsent answers for this reason; delivered answers are charged later. */
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
  /** The account whose leases pay; if it is lost, the charge cannot be written. */
  readonly account: { readonly isLost: boolean }
  /** The client has the answer, so the charge is retried until it is written. */
  readonly isDelivered: boolean
  /** Called if the charge will not be written. Frees its credit. */
  readonly undo: () => void
}
