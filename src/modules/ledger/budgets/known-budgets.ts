import type { Queryable } from '../../../storage/database.ts'
import type { BudgetLimits } from '../books/spend-caps.ts'
import { PathBudgets } from './path-budgets.ts'
import { readChangedBudgets } from './read-path-budgets.ts'

/** What one process knows of the budgets of one account. */
export class KnownBudgets {
  readonly #database: Queryable
  readonly #accountId: string
  #isCurrent = false
  /** As of the last read, also if that is out of date. */
  latest = PathBudgets.none

  constructor(database: Queryable, accountId: string) {
    this.#database = database
    this.#accountId = accountId
  }

  /** Null if they must be read first. */
  get current(): PathBudgets | null {
    return this.#isCurrent ? this.latest : null
  }

  /** Messages about changes may have been missed. */
  forget(): void {
    this.#isCurrent = false
  }

  /** Reads what changed up to a version. */
  async update(limits: BudgetLimits, version: bigint): Promise<void> {
    const range = { after: this.latest.version, upTo: version }
    const changed = await readChangedBudgets(this.#database, this.#accountId, range)
    this.latest = this.latest.with(limits, changed, version)
    this.#isCurrent = true
  }
}
