import { SIGN_IN_LIFE_MS } from '../modules/directory/directory.ts'
import { readCookie } from './session-cookie.ts'
import type { RequestMessage } from './message.ts'

const PLAIN_NAME = 'parkway_sign_in_'
/** Over https no other host of the domain can plant a cookie of this name. */
const SECURE_NAME = `__Host-${PLAIN_NAME}`

/** Returns the state of a sign-in with a provider that this browser began, still sealed. */
export function readSignInCookie(headers: RequestMessage['headers'], slot: number): string | null {
  return readCookie(headers, [SECURE_NAME + slot, PLAIN_NAME + slot])
}

/** `Lax`, because the browser comes back from the provider's site. Null removes the cookie. */
export function writeSignInCookie(slot: number, sealed: string | null, isSecure: boolean): string {
  const name = (isSecure ? SECURE_NAME : PLAIN_NAME) + slot
  const seconds = sealed === null ? 0 : SIGN_IN_LIFE_MS / 1000
  return `${name}=${sealed ?? ''}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${isSecure ? '; Secure' : ''}`
}
