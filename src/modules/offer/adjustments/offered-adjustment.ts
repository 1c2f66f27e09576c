/** Whom an adjustment is for. At most one of account and project. All null: every request. */
export interface AdjustmentScope {
  readonly accountId: string | null
  /** The project `Default` has the id of its account. */
  readonly projectId: string | null
  readonly model: string | null
}

/** A markup or discount, from a moment on. */
export interface OfferedAdjustment extends AdjustmentScope {
  /** The version of the offer in which it was added. Bills name it. */
  readonly version: bigint
  /** As it was given. */
  readonly given: Readonly<Record<string, unknown>>
  /** What is applied: exact integers, which the catalog reads. */
  readonly terms: unknown
  readonly effectiveFromMs: number
  /** The first moment at which it does not apply any more. */
  readonly effectiveUntilMs: number | null
  /** The key of the operator. Null if it is not known. */
  readonly authorKeyId: string | null
  readonly reason: string | null
  readonly createdAtMs: number
  /** When it was withdrawn before it had effect. */
  readonly withdrawnAtMs: number | null
}
