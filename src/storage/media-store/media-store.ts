import type { Readable } from 'node:stream'

/** Where the bytes of files lie. It knows nothing of accounts or of what the files are for. */
export interface MediaStore {
  /** Keeps all of the source, durably, or nothing of it. A key is a UUID and is used once. */
  put(
    key: string,
    source: AsyncIterable<Uint8Array>,
    contentType: string,
  ): Promise<{ readonly bytes: number }>
  /** Null when there is no such file. Who opens reads to the end or destroys it. */
  open(key: string, range?: ByteRange): Promise<Readable | null>
  exists(key: string): Promise<boolean>
  /** A file that is gone already is no error. */
  delete(key: string): Promise<void>
  /** Removes what is left of writes that began before then and never ended: those of processes that died. */
  removeUnfinished(before: Date): Promise<void>
  close(): Promise<void>
}

export interface ByteRange {
  readonly start: number
  /** The last byte, not the one after it. */
  readonly end: number
}

/** Keys become paths: nothing but the digits of a UUID gets into one. */
export function requireStoreKey(key: string): string {
  if (!KEY_FORM.test(key)) throw new Error('a key of the media store must be a UUID')
  return key
}

const KEY_FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
