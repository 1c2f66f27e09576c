import type { IncomingHttpHeaders } from 'node:http'

/** What the gateway looks at of a request, whoever read it from its socket. Node's `IncomingMessage` is one. */
export interface RequestMessage {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
  /** Whether all of its body has come. */
  readonly complete: boolean
}

/** What the gateway does with an answer, whoever writes it to the socket. Node's `ServerResponse` is one. */
export interface ResponseMessage {
  readonly statusCode: number
  readonly headersSent: boolean
  /** Whether everything was given to the system. */
  readonly writableFinished: boolean
  readonly writableNeedDrain: boolean
  readonly destroyed: boolean
  /** Takes names and values in turn. */
  writeHead(status: number, headers: string[]): ResponseMessage
  /** False when the client should catch up first: `drain` tells when it has. */
  write(bytes: Uint8Array): boolean
  end(): unknown
  end(content: string | Uint8Array): unknown
  end(content: string, encoding: 'latin1' | 'utf8'): unknown
  /** Until the end, so that everything leaves in one write. */
  cork(): void
  destroy(): unknown
  /** `close` comes once, finished or not. */
  on(event: 'close' | 'drain', listener: () => void): ResponseMessage
  once(event: 'close' | 'drain', listener: () => void): ResponseMessage
  off(event: 'close' | 'drain', listener: () => void): ResponseMessage
}
