import { createHash, randomBytes } from 'node:crypto'

const SECRET_BYTES = 32
const PREFIX = 'scim-'
const TOKEN_PATTERN = /^scim-[\w-]{43}$/
const SHOWN_LENGTH = PREFIX.length + 4

/** Creates a token. Only its hash is stored. */
export function createTokenText(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64url')
}

/** Returns null for a text that cannot be a token, so that it is not looked up. The secret is random and needs no salt. */
export function hashToken(text: string): Buffer | null {
  return TOKEN_PATTERN.test(text) ? createHash('sha256').update(text).digest() : null
}

/** Returns enough of a token to recognise it, and too little to use it. */
export function shownPrefix(text: string): string {
  return `${text.slice(0, SHOWN_LENGTH)}…`
}
