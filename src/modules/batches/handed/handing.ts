import type { BatchApi } from '../../../providers/batch/batch-api.ts'
import type { HandOver } from '../../../providers/batch/hand-over.ts'

/** To whose batch API a line may be handed. */
export interface Handing {
  readonly providerId: string
  /** The vendor's name of the model. */
  readonly upstreamModel: string
}

/** What the call of a line gets that is handed over. */
export interface HandedCall {
  readonly handOver: HandOver
  readonly providerId: string
  /** What the vendor asks for a line, in millionths of the price of a request. */
  readonly vendorMillionths: bigint
  /** The moment of the price list, since the epoch. Null: when the call begins. */
  readonly pricedAtMs: number | null
}

/** The batch API of a provider as it is configured now. */
export type FindBatchApi = (providerId: string) => BatchApi | null

/** How batches at vendors are followed. */
export interface HandedPace {
  /** Between two looks at a batch. */
  readonly pollMs: number
}

/** The rest of the waits, from the time between two looks. */
export function waitsOf({ pollMs }: HandedPace) {
  return {
    pollMs,
    /** A part is sent this long after the last line that was about to come, and at the latest after the second one. */
    gatherMs: Math.min(1_000, pollMs),
    gatherMsMax: 30_000,
    /** A batch whose submission had no answer is in the vendor's list after this time, if it was made. */
    settleMs: pollMs * 4,
    /** After a cancellation, or the end of the 24 hours, the vendor may take this long to end what runs. */
    endMs: pollMs * 60,
  }
}

export type HandedWaits = ReturnType<typeof waitsOf>
