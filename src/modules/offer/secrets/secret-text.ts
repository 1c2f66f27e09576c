const SECRET = /^[\x21-\x7e]{1,4096}$/
/** From a shorter secret, four characters would give too much away. */
const SHOWN_LENGTH_MIN = 12

/** Whether it can be sent in a header: one line of printable ASCII without spaces. */
export function isSecretText(text: string): boolean {
  return SECRET.test(text)
}

/** Returns the part of a secret by which people recognise it, or null if it is too short for that. */
export function lastFourOf(secret: string): string | null {
  return secret.length >= SHOWN_LENGTH_MIN ? secret.slice(-4) : null
}
