/** What an inference used, as metrics, traces and the access log count it. */
export interface TokenCounts {
  readonly prompt: number
  readonly completion: number
  /** The part of `prompt` that came from the upstream's cache. */
  readonly cached?: number
  /** The part of `prompt` that was written to it. */
  readonly cacheWrite?: number | undefined
  /** The part of `completion` that was reasoning. */
  readonly reasoning?: number
}
