import type { Cancellation } from '../kernel/cancellation.ts'
import type { ExportedRequest } from './exported-request.ts'

/** A request in the order of its stream. */
export interface ExportedItem {
  readonly request: ExportedRequest
  /** The request as one line of JSON, without a line break. */
  readonly line: string
  readonly queuedAtMs: number
}

/** Consecutive requests. A repeated batch begins with the same number and may have more requests. */
export interface ExportBatch {
  /** Higher than that of every request before. */
  readonly firstNumber: bigint
  readonly items: readonly ExportedItem[]
}

export interface Delivered {
  /** How many requests the receiver said that it will never take. */
  readonly refused: number
  readonly reason: string | null
}

/** A system of the operator that gets requests. */
export interface ExportSink {
  /** Requests of one batch at most. */
  readonly requestsMax: number
  /** Bytes of the lines of one batch at most. */
  readonly bytesMax: number
  /** How long requests wait for others of their batch. */
  readonly collectMs: number
  /**
   * Resolves when the receiver has confirmed that it keeps all of them. Throws if it is not known to have them: the batch is sent again.
   * Settles soon after the cancellation.
   */
  deliver(batch: ExportBatch, cancellation: Cancellation): Promise<Delivered>
  close(): Promise<void>
}

export const ALL_TAKEN: Delivered = { refused: 0, reason: null }
