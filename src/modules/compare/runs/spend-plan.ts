import type { NanoUsd } from '../../../kernel/money.ts'
import type { Lane, Run } from './run.ts'

interface LaneSpend {
  completed: bigint
  costNanoUsd: NanoUsd
}

/** What a cell may spend. */
export interface Allowance {
  /** Null without a budget. */
  readonly amountNanoUsd: NanoUsd | null
}

export interface WantedAllowance {
  /** Further cells that may run beside it. */
  readonly freeSlots: number
  /** No other cell is running. */
  readonly isAlone: boolean
  /** What its prompt costs alone, if that is known. */
  readonly leastNanoUsd: NanoUsd
}

/** A cell may cost this many times the usual cost of its lane, before its answer is cut off. */
const MARGIN = 8n

/**
 * Keeps a run within its budget. Each cell reserves the most that it may spend, and is not charged more than that. While others run, a
 * cell starts only if there is room for an unusually long answer. Alone it may have all that is left.
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

  /** Adds what an earlier worker was charged. */
  add(chargedNanoUsd: NanoUsd): void {
    this.#spentNanoUsd += chargedNanoUsd
  }

  /** Reserves what a cell may spend. Null if the budget has no room for it. */
  reserve(lane: Lane, { freeSlots, isAlone, leastNanoUsd }: WantedAllowance): Allowance | null {
    if (this.#budgetNanoUsd === null) return { amountNanoUsd: null }
    const left = this.#budgetNanoUsd - this.#spentNanoUsd - this.#reservedNanoUsd
    const { usual, isKnown } = this.#expect(lane)
    const share = left / BigInt(Math.max(1, freeSlots))
    const wanted = largestOf(share, largestOf(usual * MARGIN, leastNanoUsd * 2n))
    const amountNanoUsd = wanted <= left ? wanted : left
    // The estimate may be too high, so a lane without an answer may try with less.
    const needed = largestOf(leastNanoUsd, isKnown ? usual : 1n)
    if (wanted > left && !(isAlone && left >= needed)) return null
    if (amountNanoUsd <= 0n) return null
    this.#reservedNanoUsd += amountNanoUsd
    return { amountNanoUsd }
  }

  settle(
    lane: Lane,
    { amountNanoUsd }: Allowance,
    { chargedNanoUsd, isCompleted }: { chargedNanoUsd: NanoUsd; isCompleted: boolean },
  ): void {
    this.#reservedNanoUsd -= amountNanoUsd ?? 0n
    this.#spentNanoUsd += chargedNanoUsd
    const spend = this.#lanes.get(lane.id)
    if (spend === undefined || !isCompleted) return
    spend.completed += 1n
    spend.costNanoUsd += chargedNanoUsd
  }

  /** The mean cost of the lane's cells so far. */
  #expect({ id }: Lane): { usual: NanoUsd; isKnown: boolean } {
    const { completed = 0n, costNanoUsd = 0n } = this.#lanes.get(id) ?? {}
    if (completed === 0n) return { usual: this.#guessNanoUsd, isKnown: false }
    return { usual: costNanoUsd / completed, isKnown: true }
  }
}

function largestOf(one: NanoUsd, other: NanoUsd): NanoUsd {
  return one > other ? one : other
}
