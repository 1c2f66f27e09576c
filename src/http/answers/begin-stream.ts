import type { Wire } from '../../wires/wire.ts'
import type { ResponseMessage } from '../message.ts'
import { FIRST_KEEP_ALIVE_MS, startKeepAlive } from './send-events.ts'

interface StreamStart {
  readonly response: ResponseMessage
  readonly wire?: Pick<Wire, 'keepAlive'>
  /** Whether the stream may begin now. Until then an error can still be an HTTP status. */
  readonly mayBegin: () => boolean
  readonly writeHead: () => void
}

/**
 * Begins a stream with keep-alives if its first event takes long: an upstream may think for minutes, and a proxy would time out.
 * Returns a function that ends the keep-alives.
 */
export function keepAliveUntilBegun({ response, wire, mayBegin, writeHead }: StreamStart): () => void {
  let stopKeepAlive: (() => void) | null = null
  const timer = setTimeout(() => {
    if (response.destroyed) return
    if (!mayBegin()) return void timer.refresh()
    writeHead()
    stopKeepAlive = startKeepAlive(response, wire)
  }, FIRST_KEEP_ALIVE_MS)
  return () => {
    clearTimeout(timer)
    stopKeepAlive?.()
  }
}
