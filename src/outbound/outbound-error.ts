/**
 * The gateway does not send requests to this address, because of its form, its network or its redirect target. Clients may see
 * the message.
 */
export class OutboundRefused extends Error {
  override readonly name = 'OutboundRefused'
}

export type OutboundFailure = 'unreachable' | 'timeout' | 'too_large' | 'too_many_redirects' | 'closed'

/** The request was sent, but did not get a proper answer. Clients may see the message. */
export class OutboundFailed extends Error {
  override readonly name = 'OutboundFailed'
  readonly reason: OutboundFailure

  constructor(reason: OutboundFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.reason = reason
  }
}
