import type { IncomingMessage } from 'node:http'

const LINGER_MS_MAX = 30_000

/**
 * Lets an answer that closes its connection reach a client that is still sending. A socket that is closed with bytes left unread
 * resets the connection, and the reset may overtake the answer; so our side is closed first, and what still comes is read past.
 */
export function lingerBeforeClose(incoming: IncomingMessage): void {
  const { socket } = incoming
  const closeAtOnce = socket.destroySoon.bind(socket)
  // Node's server calls this when the answer has been written.
  socket.destroySoon = () => {
    if (incoming.complete || incoming.destroyed) {
      closeAtOnce()
      return
    }
    socket.end()
    const timer = setTimeout(() => socket.destroy(), LINGER_MS_MAX)
    socket.once('close', () => clearTimeout(timer))
    incoming.once('end', closeAtOnce)
  }
  incoming.resume()
}
