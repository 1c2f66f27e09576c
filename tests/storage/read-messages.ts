import type { Socket } from 'node:net'

/** Calls the listener with each message that a PostgreSQL server sends after the start of a session. */
export function readMessages(socket: Socket, onMessage: (message: Buffer) => void): void {
  let buffered = Buffer.alloc(0)
  socket.on('error', () => {})
  socket.on('data', (bytes: Buffer) => {
    buffered = Buffer.concat([buffered, bytes])
    while (buffered.length >= 5) {
      const length = 1 + buffered.readUInt32BE(1)
      if (buffered.length < length) return
      onMessage(Buffer.from(buffered.subarray(0, length)))
      buffered = buffered.subarray(length)
    }
  })
}
