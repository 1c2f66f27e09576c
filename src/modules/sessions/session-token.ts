import { createHash, randomBytes } from 'node:crypto'

const TOKEN_BYTES = 32
const TOKEN_PATTERN = /^[\w-]{43}$/

/** Creates the secret of a session, which only its cookie holds. */
export function createSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** Returns null if the text cannot be the secret of a session. */
export function hashSessionToken(token: string): Buffer | null {
  if (!TOKEN_PATTERN.test(token)) return null
  return createHash('sha256').update(token).digest()
}
