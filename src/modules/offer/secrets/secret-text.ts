import { writeSignInDocument } from '../../../providers/sign-in/sign-in-document.ts'

const SECRET = /^[\x21-\x7e]{1,4096}$/
/** From a shorter secret, four characters would give too much away. */
const SHOWN_LENGTH_MIN = 12

/** Whether it can be sent in a header: one line of printable ASCII without spaces. Or a document that says how to sign in. */
export function isSecretText(text: string): boolean {
  return SECRET.test(text) || (text.startsWith('{') && writeSignInDocument(text) !== null)
}

/** Returns a document in one line, and a key as it is. */
export function toSecretLine(text: string): string {
  return text.startsWith('{') ? (writeSignInDocument(text) ?? text) : text
}

/** Returns the part of a secret by which people recognise it, or null if it is too short for that, or a document. */
export function lastFourOf(secret: string): string | null {
  return secret.length >= SHOWN_LENGTH_MIN && !secret.startsWith('{') ? secret.slice(-4) : null
}
