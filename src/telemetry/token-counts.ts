/** Token usage of an inference for metrics, traces and the access log. */
export interface TokenCounts {
  readonly prompt: number
  readonly completion: number
  /** The part of `prompt` that was read from the upstream's cache. */
  readonly cached?: number
  /** The part of `prompt` that was written to the cache. */
  readonly cacheWrite?: number | undefined
  /** The part of `completion` that was reasoning. */
  readonly reasoning?: number
}
