import type { RequestMessage } from './message.ts'

const PLAIN_NAME = 'parkway_session'
/** A browser accepts a cookie of this name only over https, for this host and for all paths. */
const SECURE_NAME = `__Host-${PLAIN_NAME}`
const COOKIES_LENGTH_MAX = 8192
const LIFE_SECONDS = 7 * 24 * 3600

type Headers = RequestMessage['headers']

/** Returns the secret of the session, or null if the request has no such cookie. */
export function readSessionCookie(headers: Headers): string | null {
  return readCookie(headers, [SECURE_NAME, PLAIN_NAME])
}

/** Returns the first of these cookies that the request has. */
export function readCookie(
  { cookie }: { cookie?: string | undefined },
  names: readonly string[],
): string | null {
  if (cookie === undefined || cookie.length > COOKIES_LENGTH_MAX) return null
  const pairs = cookie.split(';').map((pair) => pair.trim())
  for (const name of names) {
    const found = pairs.find((pair) => pair.startsWith(`${name}=`))
    if (found !== undefined) return found.slice(name.length + 1)
  }
  return null
}

/** Returns the `set-cookie` header for a session. Null ends the session in the browser. */
export function writeSessionCookie(token: string | null, isSecure: boolean): string {
  const name = isSecure ? SECURE_NAME : PLAIN_NAME
  const seconds = token === null ? 0 : LIFE_SECONDS
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isSecure ? '; Secure' : ''}`
  return `${name}=${token ?? ''}; ${attributes}`
}

/** Whether the browser reached the gateway over https, directly or through a proxy. */
export function isSecureRequest(headers: Headers, publicUrl: string | null): boolean {
  // A client that writes the header itself changes only its own cookie.
  return publicUrl?.startsWith('https:') === true || headers['x-forwarded-proto'] === 'https'
}

/**
 * Whether a page of this gateway sent the request. Browsers add a cookie to requests of other pages too, so a cookie counts only
 * with this proof, which no other page can forge.
 */
export function isOfOwnPage(headers: Headers, publicUrl: string | null): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = headers
  if (origin === undefined) return false
  if (publicUrl !== null && origin === new URL(publicUrl).origin) return true
  return URL.canParse(origin) && new URL(origin).host === host && origin !== 'null'
}
