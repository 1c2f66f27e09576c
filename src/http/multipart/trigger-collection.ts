import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** So much may have been read and written since the last collection. */
const BYTES_BETWEEN_MAX = 16 * 1024 * 1024

let bytesSince = 0
let collectYoung: ((options: { type: 'minor' }) => void) | null = null

/**
 * Frees the pieces uploads came in. They are many and large and lie outside the heap, where V8 lets up to a hundred megabytes of
 * them gather before it looks; a collection of the young takes a millisecond or two and finds nearly all of them dead.
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
