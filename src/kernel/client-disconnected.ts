/** Reason for cancelling work whose client has disconnected. The work may still continue. */
export class ClientDisconnected extends Error {
  override readonly name: string = 'ClientDisconnected'
}

/**
 * Reason for cancelling work whose caller may not use the gateway any more: the key was revoked or has expired, the account is
 * suspended, the session has ended. The client is told the cause at once. For the work it is the same as a client that left.
 */
export class CallerRefused extends ClientDisconnected {
  override readonly name = 'CallerRefused'

  constructor(cause: Error) {
    super('the caller is refused from now on', { cause })
  }
}
