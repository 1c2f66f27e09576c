import type { NanoUsd } from '../../../kernel/money.ts'
import type { Lane, Run } from './run.ts'

interface LaneSpend {
  completed: bigint
  costNanoUsd: NanoUsd
}

/**
 * Keeps a run within its budget. A cell starts only if its expected cost fits beside what is spent and reserved. The last cell may
 * cost more than expected, so a run can exceed its budget by one cell.
 */
export class SpendPlan {
  readonly #budgetNanoUsd: NanoUsd | null
  readonly #guessNanoUsd: NanoUsd
  readonly #lanes: ReadonlyMap<string, LaneSpend>
  #spentNanoUsd: NanoUsd
  #reservedNanoUsd = 0n

  constructor(run: Run) {
    this.#budgetNanoUsd = run.budgetNanoUsd
    this.#spentNanoUsd = run.costNanoUsd
    const ofCells = run.estimatedCostNanoUsd - run.estimatedJudgeNanoUsd
    this.#guessNanoUsd = ofCells / BigInt(Math.max(1, run.cellsTotal))
    this.#lanes = new Map(
      run.lanes.map((lane) => [
        lane.id,
        { completed: BigInt(lane.completed), costNanoUsd: lane.costNanoUsd },
      ]),
    )
  }

  /** Reserves the expected cost of a cell. Null if the budget has no room for it. */
  reserve(lane: Lane, isAlone: boolean): NanoUsd | null {
    if (this.#budgetNanoUsd === null) return 0n
    const expected = this.#expect(lane)
    const isCovered = this.#spentNanoUsd + this.#reservedNanoUsd + expected <= this.#budgetNanoUsd
    // A cell that runs alone may start while any budget is left, because the estimate may be too high.
    if (!isCovered && !(isAlone && this.#spentNanoUsd < this.#budgetNanoUsd)) return null
    this.#reservedNanoUsd += expected
    return expected
  }

  settle(
    lane: Lane,
    reserved: NanoUsd,
    { chargedNanoUsd, isCompleted }: { chargedNanoUsd: NanoUsd; isCompleted: boolean },
  ): void {
    this.#reservedNanoUsd -= reserved
    this.#spentNanoUsd += chargedNanoUsd
    const spend = this.#lanes.get(lane.id)
    if (spend === undefined || !isCompleted) return
    spend.completed += 1n
    spend.costNanoUsd += chargedNanoUsd
  }

  /** The mean cost of the lane's cells so far. */
  #expect({ id }: Lane): NanoUsd {
    const { completed = 0n, costNanoUsd = 0n } = this.#lanes.get(id) ?? {}
    return completed === 0n ? this.#guessNanoUsd : costNanoUsd / completed
  }
}
