import type { Readable } from 'node:stream'

/** Stores the bytes of files. It does not know accounts or the purpose of files. */
export interface MediaStore {
  /** Stores the whole source durably, or nothing. A key is a UUID, unless the store has names of its own, and is used only once. */
  put(
    key: string,
    source: AsyncIterable<Uint8Array>,
    contentType: string,
  ): Promise<{ readonly bytes: number }>
  /** Returns null if the file does not exist. The caller must read the stream to its end or destroy it. */
  open(key: string, range?: ByteRange): Promise<Readable | null>
  exists(key: string): Promise<boolean>
  /** Deletes a file. A missing file is no error. */
  delete(key: string): Promise<void>
  /** Rejects if files can be neither stored nor read. */
  check(): Promise<void>
  /** Removes incomplete files of writes that began before this time and were never finished because their process died. */
  removeUnfinished(before: Date): Promise<void>
  close(): Promise<void>
}

export interface ByteRange {
  readonly start: number
  /** The last byte, not the one after it. */
  readonly end: number
}

/** Throws unless the key is a UUID, because keys become part of paths. */
export function requireStoreKey(key: string): string {
  if (!KEY_FORM.test(key)) throw new Error('a key of the media store must be a UUID')
  return key
}

const KEY_FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
