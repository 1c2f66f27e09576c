/** An answer of one JSON document, as it goes out: its text, or its bytes in pieces. */
export interface WholeAnswer {
  readonly kind: 'complete'
  readonly payload: string | readonly Buffer[]
}

interface StreamResult {
  readonly kind: 'stream'
  /** Payloads that leave together. Throws an `AppError` when the upstream fails in the middle. */
  readonly batches: AsyncIterable<readonly Buffer[]>
}

export type InferenceResult = WholeAnswer | StreamResult
