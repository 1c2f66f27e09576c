import type { LaneQuality } from './compare-scores.ts'
import type { Agreement } from './measure-agreement.ts'

/** What the quality of answers is known by. */
export type DecisionBasis = 'people' | 'score' | 'judge'

/** Which lane of a run to take, and how sure that is. */
export interface RunDecision {
  readonly outcome: 'better' | 'no_clear_difference' | 'not_enough_data'
  readonly basis: DecisionBasis | null
  /** Null unless one lane is better than all others. */
  readonly winnerLaneId: string | null
  /** The winner, or the cheapest lane that is not clearly worse. Null without enough data. */
  readonly recommendedLaneId: string | null
  /** The share of the samples in which the best lane is the best. */
  readonly confidence: number | null
  readonly text: string
  readonly lanes: readonly DecidedLane[]
  readonly agreement: Agreement
}

export interface DecidedLane {
  readonly laneId: string
  readonly name: string
  readonly quality: LaneQuality | null
  /** Means of an answer. */
  readonly costUsd: number | null
  readonly latencyMs: number | null
  readonly failed: number
}
