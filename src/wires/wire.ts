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
}

/** What a client speaks: how errors look, and how the payloads of a stream are framed. */
export interface Wire {
  readonly id: string
  /** The body of an error answer, and the payload of the frame that tells of a failure in the middle of a stream. */
  formatError(error: WireError): object
  /** The frame around such a payload. */
  frameError(payload: string): string
  /** Sent while an upstream is silent. */
  readonly keepAlive: Buffer
  /** The last bytes of every whole stream. */
  readonly streamEnd: Buffer
  /** Headers of its own, as names and values in turn. */
  readonly headersOf?: (requestId: string) => readonly string[]
  openStream(): StreamWriter
}
