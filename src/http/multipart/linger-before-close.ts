import type { IncomingMessage } from 'node:http'

const LINGER_MS_MAX = 30_000

/**
 * Lets the last answer reach a client that is still sending. Closing a socket with unread bytes resets the connection, and the
 * reset may arrive before the answer. So close our side first and discard further input.
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
