/** The payloads of events that arrived together. */
export interface EventBatch extends ReadonlyArray<Buffer> {
  /** The same payloads as frames of `data` fields, in one piece, if whoever made the batch has them. */
  readonly frames?: Buffer
}
