/** The address is not one that the gateway asks: its form, its network, or where it leads. The message may be shown. */
export class OutboundRefused extends Error {
  override readonly name = 'OutboundRefused'
}

export type OutboundFailure = 'unreachable' | 'timeout' | 'too_large' | 'too_many_redirects' | 'closed'

/** The address was asked and did not answer as it should. The message may be shown. */
export class OutboundFailed extends Error {
  override readonly name = 'OutboundFailed'
  readonly reason: OutboundFailure

  constructor(reason: OutboundFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.reason = reason
  }
}
