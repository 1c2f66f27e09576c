import { Cancellation } from '../../../kernel/cancellation.ts'

/** Ends the call of one line: at any time if this process stops, and only before a model is asked if the batch is withdrawn. */
export class LineCancellation {
  readonly call = new Cancellation()
  readonly #stop: Cancellation
  readonly #withdrawal: Cancellation
  readonly #cancel = (reason: unknown): void => this.call.cancel(reason)

  constructor(stop: Cancellation, withdrawal: Cancellation) {
    this.#stop = stop
    this.#withdrawal = withdrawal
    stop.onCancel(this.#cancel)
    withdrawal.onCancel(this.#cancel)
  }

  /** The limits let the line go to a model, so that its answer is kept although the batch is withdrawn. */
  noteAdmitted(): void {
    this.#withdrawal.offCancel(this.#cancel)
  }

  /** The line waits, or has ended. */
  close(): void {
    this.#stop.offCancel(this.#cancel)
    this.#withdrawal.offCancel(this.#cancel)
  }
}
