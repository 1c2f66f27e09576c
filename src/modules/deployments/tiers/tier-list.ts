import type { Clock } from '../../../kernel/clock.ts'
import type { GpuRegistry, OfferedTier } from '../../../gpu/registry.ts'

export interface TierSnapshot {
  readonly tiers: readonly OfferedTier[]
  readonly readAtMs: number
}

/** The tiers of all drivers. `read` asks the drivers if its snapshot is older than `maxAgeMs`, by default a minute. */
export interface TierList {
  read(maxAgeMs?: number): Promise<TierSnapshot>
}

const MAX_AGE_MS = 60_000

export function createTierList({ gpus, clock }: { gpus: GpuRegistry; clock: Clock }): TierList {
  let last: TierSnapshot | null = null
  let asking: Promise<TierSnapshot> | null = null
  // Concurrent callers share one request to the drivers, so that clients cannot overload them.
  const ask = (): Promise<TierSnapshot> => {
    asking ??= gpus
      .capacity()
      .then((tiers) => {
        last = { tiers, readAtMs: clock.nowMs() }
        return last
      })
      .finally(() => {
        asking = null
      })
    return asking
  }
  return {
    read: async (maxAgeMs = MAX_AGE_MS) =>
      last !== null && clock.nowMs() - last.readAtMs < maxAgeMs ? last : ask(),
  }
}
