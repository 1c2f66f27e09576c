/** Why work is cancelled that nobody waits for any more, though whoever does it may go on. */
export class ClientDisconnected extends Error {
  override readonly name: string = 'ClientDisconnected'
}
