/** Reason for cancelling work whose client has disconnected. The work may still continue. */
export class ClientDisconnected extends Error {
  override readonly name: string = 'ClientDisconnected'
}
