import { scrubUpstreamText } from './scrub-upstream-text.ts'

export type UpstreamFailure =
  /** No connection could be made. */
  | 'connect'
  /** This process lacks a resource that a connection needs. The upstream is not involved. */
  | 'local'
  /** The upstream did not answer, or stopped sending, within the time limit. */
  | 'timeout'
  /** The upstream answered with an error status. */
  | 'status'
  /** The answer does not conform to the protocol. */
  | 'invalid_answer'
  /** The connection ended in the middle of an answer. */
  | 'cut'

export interface UpstreamErrorDetails {
  failure: UpstreamFailure
  provider: string
  /** The upstream's HTTP status, if it answered with an error status. */
  status?: number
  /** The upstream's message, bounded in length. Shown to clients only if their own request was at fault. */
  upstreamMessage?: string
  /** The upstream's error code, or the system's error code for a `local` failure. */
  upstreamCode?: string
  upstreamParam?: string
  retryAfterSeconds?: number
  /** For job polls: the job itself has failed or no longer exists, so polling again is useless. */
  hasJobEnded?: boolean
  /** The client requested this failure from the sandbox, and receives the status and code that it requested. */
  isInjected?: boolean
  cause?: unknown
}

const RETRYABLE_STATUSES = new Set([408, 409, 425, 429])
const REQUEST_FAULT_STATUSES = new Set([400, 413, 415, 422])

/** A failure of an upstream. The caller decides whether to try another route and what to tell the client. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly details: Readonly<UpstreamErrorDetails>

  constructor(message: string, details: UpstreamErrorDetails) {
    super(scrubUpstreamText(message), details.cause === undefined ? undefined : { cause: details.cause })
    const { upstreamMessage, upstreamCode, upstreamParam } = details
    this.details = {
      ...details,
      ...(upstreamMessage !== undefined && { upstreamMessage: scrubUpstreamText(upstreamMessage) }),
      ...(upstreamCode !== undefined && { upstreamCode: scrubUpstreamText(upstreamCode) }),
      ...(upstreamParam !== undefined && { upstreamParam: scrubUpstreamText(upstreamParam) }),
    }
  }

  /** Whether another attempt, here or at another upstream, could succeed with the same request. */
  get isRetryable(): boolean {
    const { failure, status = 0 } = this.details
    if (failure === 'local') return false
    return failure !== 'status' || status >= 500 || RETRYABLE_STATUSES.has(status)
  }

  /** Whether the upstream rejected the request itself, so that no other attempt would succeed. */
  get isRequestAtFault(): boolean {
    const { failure, status = 0 } = this.details
    return failure === 'status' && REQUEST_FAULT_STATUSES.has(status)
  }
}

/** The error of an answer that does not conform to the protocol. */
export function invalidAnswer(provider: string, what: string): UpstreamError {
  return new UpstreamError(`${provider}: ${what}`, { failure: 'invalid_answer', provider })
}
