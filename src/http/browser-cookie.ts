import { randomBytes } from 'node:crypto'
import { readCookie } from './session-cookie.ts'

const PLAIN_NAME = 'parkway_browser'
const SECURE_NAME = `__Host-${PLAIN_NAME}`
const SECRET_BYTES = 32
const SECRET_PATTERN = /^[\w-]{43}$/
const LIFE_SECONDS = 600

/** Returns the secret with which a browser proves that it began what it ends. Null if it has none. */
export function readBrowserSecret(headers: { cookie?: string | undefined }): string | null {
  const secret = readCookie(headers, [SECURE_NAME, PLAIN_NAME])
  return secret !== null && SECRET_PATTERN.test(secret) ? secret : null
}

export function createBrowserSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

export function writeBrowserCookie(secret: string, isSecure: boolean): string {
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${LIFE_SECONDS}${isSecure ? '; Secure' : ''}`
  return `${isSecure ? SECURE_NAME : PLAIN_NAME}=${secret}; ${attributes}`
}
