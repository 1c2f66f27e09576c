import { scrubUpstreamText } from './scrub-upstream-text.ts'

export type UpstreamFailure =
  /** No connection could be made. */
  | 'connect'
  /** This process is short of what a connection needs; the upstream has no part in it. */
  | 'local'
  /** It did not answer, or fell silent, in time. */
  | 'timeout'
  /** It answered with an error status. */
  | 'status'
  /** It answered with something that is not its protocol. */
  | 'invalid_answer'
  /** The connection ended in the middle of an answer. */
  | 'cut'

export interface UpstreamErrorDetails {
  failure: UpstreamFailure
  provider: string
  /** The upstream's HTTP status, when the failure is one. */
  status?: number
  /** What the upstream said, bounded. Shown to the client only when its own request was at fault. */
  upstreamMessage?: string
  /** The upstream's own code; of a `local` failure what the system calls it. */
  upstreamCode?: string
  upstreamParam?: string
  retryAfterSeconds?: number
  /** Of a look at a job: the job itself has failed or is gone, and looking again would show nothing else. */
  hasJobEnded?: boolean
  /** A client ordered it of the sandbox, and is shown the status and the code it asked for. */
  isInjected?: boolean
  cause?: unknown
}

const RETRYABLE_STATUSES = new Set([408, 409, 425, 429])
const REQUEST_FAULT_STATUSES = new Set([400, 413, 415, 422])

/** What went wrong at an upstream. The chat module decides whether to try elsewhere and what the client is told. */
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

  /** Whether the request itself was refused, so that no other attempt will do better. */
  get isRequestAtFault(): boolean {
    const { failure, status = 0 } = this.details
    return failure === 'status' && REQUEST_FAULT_STATUSES.has(status)
  }
}
