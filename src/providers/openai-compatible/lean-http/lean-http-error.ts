import type { UpstreamFailure } from '../../upstream-error.ts'

/** Why an exchange came to nothing. */
export class LeanHttpError extends Error {
  override readonly name = 'LeanHttpError'
  readonly failure: Exclude<UpstreamFailure, 'status'>

  constructor(failure: LeanHttpError['failure'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}
