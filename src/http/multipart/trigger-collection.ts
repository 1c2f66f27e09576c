import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes that may be read and written between two collections. */
const BYTES_BETWEEN_MAX = 16 * 1024 * 1024

let bytesSince = 0
let collectYoung: ((options: { type: 'minor' }) => void) | null = null

/**
 * Frees the buffers of uploads. They are outside the heap, where V8 lets up to a hundred megabytes accumulate before it collects.
 * A collection of the young generation takes one or two milliseconds and frees nearly all of them.
 */
export function triggerCollection(bytesRead: number): void {
  bytesSince += bytesRead
  if (bytesSince < BYTES_BETWEEN_MAX) return
  bytesSince = 0
  collectYoung ??= exposeCollection()
  collectYoung({ type: 'minor' })
}

function exposeCollection(): (options: { type: 'minor' }) => void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  return typeof collect === 'function' ? (options) => void collect(options) : () => {}
}
