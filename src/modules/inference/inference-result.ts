import type { EventBatch } from '../../kernel/event-batch.ts'
/** An answer of one JSON document, as text or as byte chunks. */
export interface WholeAnswer {
  readonly kind: 'complete'
  readonly payload: string | readonly Buffer[]
}

interface StreamResult {
  readonly kind: 'stream'
  /** Payloads that are sent together. Throws an `AppError` if the upstream fails mid-stream. */
  readonly batches: AsyncIterable<EventBatch>
}

export type InferenceResult = WholeAnswer | StreamResult
