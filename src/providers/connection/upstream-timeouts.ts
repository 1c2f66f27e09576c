/** Time limits of an upstream call. */
export interface UpstreamTimeouts {
  readonly connectMs: number
  /** From sending the request to the first byte of the answer's body. */
  readonly firstByteMs: number
  /** Between two reads of the answer. */
  readonly idleMs: number
}
