import type { KeptConnection } from '../../../storage/database.ts'
import { isOutcomeLost } from './commit-failure.ts'
import { ConfirmedCommits, type LostCommits } from './confirmed-commits.ts'
import { findOutcome, journalCharges } from './journal-charges.ts'
import type { PaidCharge } from './journal-text.ts'

/** Numbers the commits of this process and sends them one at a time, each until its outcome is known. */
export class JournalWriter {
  #borrowerId = ''
  /** Number of the next commit. A failed commit leaves no gap: its number is used again or taken by an empty row. */
  #sequence = 1
  #isOutcomeUnknown = false
  readonly #confirmed = new ConfirmedCommits()
  readonly #onLost: (lost: LostCommits) => void

  /** Calls back when the database does not have commits any more that it had confirmed. */
  constructor(onLost: (lost: LostCommits) => void) {
    this.#onLost = onLost
  }

  get borrowerId(): string {
    return this.#borrowerId
  }

  /** Whether the last commit was sent and its outcome is unknown. */
  get isOutcomeUnknown(): boolean {
    return this.#isOutcomeUnknown
  }

  /** Sends the next commits under this borrower id. */
  writeAs(borrowerId: string): void {
    if (borrowerId === this.#borrowerId) return
    this.#borrowerId = borrowerId
    this.#sequence = 1
    this.#confirmed.forget()
  }

  /** Looks up the outcome of the last commit without sending anything. */
  async lookUp(connection: KeptConnection): Promise<'written' | 'ruled out' | 'closed'> {
    const outcome = await findOutcome(connection, this.#number())
    await this.#lookForLost(connection)
    this.#isOutcomeUnknown = false
    if (outcome === 'written') this.#confirmed.note(this.#sequence, 0)
    // A number that was ruled out is never used again.
    if (outcome !== 'closed') this.#sequence += 1
    return outcome
  }

  /** Call it only while no outcome is unknown. Returns false if the borrower was closed. */
  async write(connection: KeptConnection, charges: readonly PaidCharge[]): Promise<boolean> {
    if (this.#confirmed.mustLookAt(connection)) await this.#lookForLost(connection)
    try {
      const isWritten = await journalCharges(connection, { ...this.#number(), charges })
      if (isWritten) this.#confirmed.note(this.#sequence, charges.length)
      if (isWritten) this.#sequence += 1
      return isWritten
    } catch (error) {
      this.#isOutcomeUnknown = isOutcomeLost(error)
      throw error
    }
  }

  async #lookForLost(connection: KeptConnection): Promise<void> {
    const lost = await this.#confirmed.findLost(connection, this.#borrowerId)
    if (lost !== null) this.#onLost(lost)
  }

  #number(): { borrowerId: string; sequence: number } {
    return { borrowerId: this.#borrowerId, sequence: this.#sequence }
  }
}
