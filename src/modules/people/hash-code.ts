import { createHash } from 'node:crypto'

/** Only hashes of codes are stored: reading a table does not help to come in. */
export function hashCode(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
