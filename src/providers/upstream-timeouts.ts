/** How long a call may be kept waiting. */
export interface UpstreamTimeouts {
  readonly connectMs: number
  /** From the request being sent to the first byte of the answer's body. */
  readonly firstByteMs: number
  /** Between two reads of the answer. */
  readonly idleMs: number
}
