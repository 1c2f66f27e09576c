import { randomInt } from 'node:crypto'

/** Consonants only, so that no code is a word, and none that looks like another (RFC 8628, section 6.1). */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ'
/** 20^8 codes: 25.6 billion. */
const LENGTH = 8
const HALF = LENGTH / 2
const PATTERN = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`)
const TYPED_LENGTH_MAX = 40

/** Creates a code that a person can type: `BCDF-GHJK`. */
export function createUserCode(): string {
  let code = ''
  while (code.length < LENGTH) code += ALPHABET.charAt(randomInt(ALPHABET.length))
  return `${code.slice(0, HALF)}-${code.slice(HALF)}`
}

/** Returns the code that a person typed in any case and with any separators, or null if it cannot be one. */
export function parseUserCode(typed: string): string | null {
  if (typed.length > TYPED_LENGTH_MAX) return null
  const letters = typed.toUpperCase().replaceAll(/[\s\-_.·]/g, '')
  return PATTERN.test(letters) ? `${letters.slice(0, HALF)}-${letters.slice(HALF)}` : null
}
