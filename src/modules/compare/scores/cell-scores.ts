/** One score of one answer. */
export interface CellScore {
  /** From 0 to 1. Null if it could not be decided. */
  readonly score: number | null
  /** Why, where a webhook tells or nothing could be decided. */
  readonly reason: string | null
}

/** By the name of the score. */
export type CellScores = Readonly<Record<string, CellScore>>

export interface ScoredCell {
  /** Null without any. */
  readonly scores: CellScores | null
  /** How good the answer is by them, if nothing else says that. */
  readonly quality: number | null
}
