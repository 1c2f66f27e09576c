import { createHash } from 'node:crypto'

const CHARACTERS = 12

/** Returns an identifier of the key that does not reveal it. */
export function markKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex').slice(0, CHARACTERS)
}
