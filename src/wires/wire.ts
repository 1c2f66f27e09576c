import type { ErrorDetails } from '../kernel/app-error.ts'
import type { EventBatch } from '../kernel/event-batch.ts'

/** The content of an error. Each wire formats it in its own way. */
export interface WireError {
  readonly status: number
  readonly code: string
  readonly type: string
  readonly message: string
  readonly param: string | null
  readonly requestId: string
  readonly details: ErrorDetails | null
}

/** Writes the payloads of a stream as Server-Sent Events. */
export interface StreamWriter {
  /** Returns the frames of payloads that arrived together. */
  write(batch: EventBatch): Buffer
  /** Returns the bytes that end a complete stream. Empty if the last payload ends it. */
  end(): Buffer
  /** Returns the frame for an error in the middle of a stream. */
  fail(error: WireError): string
}

/** A client's API format: how errors look, and how the payloads of a stream are framed. */
export interface Wire {
  readonly id: string
  /** Returns the body of an error response. */
  formatError(error: WireError): object
  /** Sent while an upstream is silent. */
  readonly keepAlive: Buffer
  /** Whether a stream that ends with these frames is complete. */
  isWholeStream(lastFrames: Buffer): boolean
  /** The content type of answers to a client that accepts this, if it is another than that of JSON. */
  readonly contentTypeFor?: (accept: string | undefined) => string
  /** Additional headers, as alternating names and values. */
  readonly headersOf?: (requestId: string) => readonly string[]
  openStream(): StreamWriter
}
