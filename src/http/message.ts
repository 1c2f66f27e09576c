import type { IncomingHttpHeaders } from 'node:http'

/** The parts of a request that the gateway uses. Node's `IncomingMessage` implements it. */
export interface RequestMessage {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
  /** Whether the whole body has arrived. */
  readonly complete: boolean
}

/** The parts of a response that the gateway uses. Node's `ServerResponse` implements it. */
export interface ResponseMessage {
  readonly statusCode: number
  readonly headersSent: boolean
  /** Whether all data was handed to the operating system. */
  readonly writableFinished: boolean
  readonly writableNeedDrain: boolean
  readonly destroyed: boolean
  /** `headers` are alternating names and values. */
  writeHead(status: number, headers: string[]): ResponseMessage
  /** Returns false if the buffer is full; wait for `drain` before writing more. */
  write(bytes: Uint8Array): boolean
  end(): unknown
  end(content: string | Uint8Array): unknown
  end(content: string, encoding: 'latin1' | 'utf8'): unknown
  /** Buffers until the end, so that everything leaves in one write. */
  cork(): void
  destroy(): unknown
  /** `close` is emitted once, whether the response finished or not. */
  on(event: 'close' | 'drain', listener: () => void): ResponseMessage
  once(event: 'close' | 'drain', listener: () => void): ResponseMessage
  off(event: 'close' | 'drain', listener: () => void): ResponseMessage
}
