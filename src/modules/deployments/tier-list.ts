import type { Clock } from '../../kernel/clock.ts'
import type { GpuRegistry, OfferedTier } from '../../gpu/registry.ts'

export interface TierSnapshot {
  readonly tiers: readonly OfferedTier[]
  readonly readAtMs: number
}

/** What the drivers offer: as they said some time ago, or as they say now. */
export interface TierList {
  read(): Promise<TierSnapshot>
  readLive(): Promise<TierSnapshot>
}

const FRESH_MS = 60_000

export function createTierList({ gpus, clock }: { gpus: GpuRegistry; clock: Clock }): TierList {
  let last: TierSnapshot | null = null
  let asking: Promise<TierSnapshot> | null = null
  // Whoever asks while the drivers are asked gets the same answer: a client cannot make them busy.
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
    read: async () => (last !== null && clock.nowMs() - last.readAtMs < FRESH_MS ? last : ask()),
    readLive: ask,
  }
}
