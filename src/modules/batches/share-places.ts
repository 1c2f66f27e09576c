/** A batch that this process works on. */
interface HeldBatch {
  readonly accountId: string
  readonly beganMs: number
  /** Whether it gives its place back already. */
  readonly isEnding: boolean
}

/** How long a batch keeps its place although others wait. */
const TURN_MS = 15_000

/**
 * Picks the batch that makes room for an account without any: one of the account with the most places, and of those the one that has
 * had its place for longest. Null while all have begun a moment ago, or one leaves already.
 */
export function pickToLeave<Held extends HeldBatch>(held: readonly Held[], nowMs: number): Held | null {
  if (held.some(({ isEnding }) => isEnding)) return null
  const placesOf = Map.groupBy(held, ({ accountId }) => accountId)
  const [picked] = held
    .filter(({ beganMs }) => nowMs - beganMs >= TURN_MS)
    .toSorted(
      (one, other) =>
        (placesOf.get(other.accountId)?.length ?? 0) - (placesOf.get(one.accountId)?.length ?? 0) ||
        one.beganMs - other.beganMs,
    )
  return picked ?? null
}
