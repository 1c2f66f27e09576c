import { chargeUnconfirmed, commitInDoubt, databaseAway } from './commit-failure.ts'
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
  /** Clients were told that nothing was charged. Only delivered answers may still be charged. */
  isRefused = false
  /** Whether the connection of an attempt that hung was closed. */
  isCut = false

  /** Whether clients were told something else than success: only delivered answers may still be sent to the journal. */
  get isTold(): boolean {
    return this.isInDoubt || this.isRefused
  }

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

  /** Refuses unsent answers of a commit that was not sent. It must not be sent with them any more. */
  refuse(): void {
    if (this.isInDoubt || this.isRefused) return
    this.isRefused = true
    this.reject(databaseAway())
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
