/** An error as every wire tells it, each in its own shape. */
export interface WireError {
  readonly status: number
  readonly code: string
  readonly type: string
  readonly message: string
  readonly param: string | null
  readonly requestId: string
}

/** How the payloads of a stream leave as Server-Sent Events. */
export interface StreamWriter {
  /** The frames of payloads that came together. */
  write(batch: readonly Buffer[]): Buffer
  /** What closes a stream that has come to its end; empty where its last payload does. */
  end(): Buffer
  /** The frame that tells of a failure in the middle. */
  fail(error: WireError): string
}

/** What a client speaks: how errors look, and how the payloads of a stream are framed. */
export interface Wire {
  readonly id: string
  /** The body of an error answer. */
  formatError(error: WireError): object
  /** Sent while an upstream is silent. */
  readonly keepAlive: Buffer
  /** Whether a stream is whole whose last frames these are. */
  isWholeStream(lastFrames: Buffer): boolean
  /** Headers of its own, as names and values in turn. */
  readonly headersOf?: (requestId: string) => readonly string[]
  openStream(): StreamWriter
}
