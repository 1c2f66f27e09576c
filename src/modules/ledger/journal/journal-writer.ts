import type { KeptConnection } from '../../../storage/database.ts'
import { isOutcomeLost } from './commit-failure.ts'
import { findOutcome, journalCharges } from './journal-charges.ts'
import type { PaidCharge } from './journal-text.ts'

/** Numbers the commits of this process, and sends each until it is known what became of it. One at a time. */
export class JournalWriter {
  #borrowerId = ''
  /** Of the next commit. One that failed leaves no gap: its number is used again, or ruled out. */
  #sequence = 1
  #isOutcomeUnknown = false

  get borrowerId(): string {
    return this.#borrowerId
  }

  /** The last commit was sent, and may have been written or not. */
  get isOutcomeUnknown(): boolean {
    return this.#isOutcomeUnknown
  }

  /** Commits are this borrower's from now on. */
  writeAs(borrowerId: string): void {
    if (borrowerId === this.#borrowerId) return
    this.#borrowerId = borrowerId
    this.#sequence = 1
  }

  /** Finds out what became of the last commit, whose outcome is unknown, and sends nothing. */
  async lookUp(connection: KeptConnection): Promise<'written' | 'ruled out' | 'closed'> {
    const outcome = await findOutcome(connection, this.#number())
    this.#isOutcomeUnknown = false
    // Ruled out, its number is never used again.
    if (outcome !== 'closed') this.#sequence += 1
    return outcome
  }

  /** Where the outcome is unknown, the same charges again. False when it can never be written, because the borrower was closed. */
  async write(connection: KeptConnection, charges: readonly PaidCharge[]): Promise<boolean> {
    const isWritten = this.#isOutcomeUnknown
      ? await this.#sendUnlessWritten(connection, charges)
      : await this.#send(connection, charges)
    if (isWritten) this.#sequence += 1
    return isWritten
  }

  async #send(connection: KeptConnection, charges: readonly PaidCharge[]): Promise<boolean> {
    try {
      return await journalCharges(connection, { ...this.#number(), charges })
    } catch (error) {
      this.#isOutcomeUnknown = isOutcomeLost(error)
      throw error
    }
  }

  async #sendUnlessWritten(connection: KeptConnection, charges: readonly PaidCharge[]): Promise<boolean> {
    const outcome = await findOutcome(connection, this.#number())
    this.#isOutcomeUnknown = false
    if (outcome !== 'ruled out') return outcome === 'written'
    this.#sequence += 1
    return this.#send(connection, charges)
  }

  #number(): { borrowerId: string; sequence: number } {
    return { borrowerId: this.#borrowerId, sequence: this.#sequence }
  }
}
