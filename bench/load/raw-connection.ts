import { createConnection } from 'node:net'
import { HttpMessageParser } from '../http-message-parser.ts'

/** A keep-alive connection with at most one request in progress. */
export interface RawConnection {
  send(request: Buffer): void
  close(): void
}

export interface RawConnectionHandlers {
  onOpen(): void
  onBody(bytes: Buffer): void
  /** A complete answer has arrived. */
  onAnswer(status: number, head: string): void
  /** The connection was closed by either side. Not called after `close()`. */
  onLost(reason: string): void
}

export function openRawConnection(port: number, handlers: RawConnectionHandlers): RawConnection {
  let status = 0
  let lastHead = ''
  let isClosed = false
  const lose = (reason: string) => {
    if (isClosed) return
    isClosed = true
    socket.destroy()
    handlers.onLost(reason)
  }
  const parser = new HttpMessageParser(
    {
      onHead: (head) => {
        lastHead = head
        status = Number(head.slice(STATUS_START, STATUS_START + 3))
      },
      onBody: (bytes) => handlers.onBody(bytes),
      onEnd: () => handlers.onAnswer(status, lastHead),
    },
    { isBodyEndedByClose: true },
  )
  const socket = createConnection({ port, host: '127.0.0.1', noDelay: true })
  socket.on('connect', () => handlers.onOpen())
  socket.on('data', (bytes: Buffer) => {
    try {
      parser.push(bytes)
    } catch (error) {
      lose(String(error))
    }
  })
  socket.on('error', (error) => lose(error.message))
  socket.on('close', () => lose('closed by the server'))
  return {
    send: (request) => void socket.write(request),
    close: () => {
      isClosed = true
      socket.destroy()
    },
  }
}

const STATUS_START = 'HTTP/1.1 '.length
