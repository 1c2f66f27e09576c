import type { UpstreamFailure } from '../../failures/upstream-error.ts'

/** The reason why a request failed. */
export class Http1Error extends Error {
  override readonly name = 'Http1Error'
  readonly failure: Exclude<UpstreamFailure, 'status'>

  constructor(failure: Http1Error['failure'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}
