/** What a connection to an upstream needs of its socket. It emits `connect` or `secureConnect`, `end`, `error` and `close`. */
export interface UpstreamSocket {
  readonly errored: Error | null
  readonly writableLength: number
  write(text: string, encoding: BufferEncoding): boolean
  pause(): unknown
  resume(): unknown
  destroy(): unknown
  on(event: string, listener: (error: Error) => void): unknown
  once(event: string, listener: () => void): unknown
}
