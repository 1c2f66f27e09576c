import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Provider } from '../../providers/provider.ts'
import type { BoundedWork } from './bound-duration.ts'

export interface Slot {
  /** Once is enough; more does no harm. */
  release(): void
}

/** A slot of an upstream that works on few requests at once; null for all others. Throws `queue_full`. */
export type AcquireSlot = (
  provider: Provider,
  accountId: string,
  cancellation: Cancellation,
) => Slot | null | Promise<Slot>

/** The same work, which makes room for the next one when it is over. */
export function occupySlot(work: BoundedWork, slot: Slot | null): BoundedWork {
  if (slot === null) return work
  return {
    cancellation: work.cancellation,
    release: () => {
      work.release()
      slot.release()
    },
  }
}
