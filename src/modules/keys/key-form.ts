import { hash, randomInt } from 'node:crypto'
import { ENVIRONMENTS, type Environment } from './authenticate/caller.ts'

const SECRET_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** 43 letters and digits carry 256 bits. */
const SECRET_LENGTH = 43
const SHOWN_SECRET_LENGTH = 4

// The upper bound keeps very long values from being hashed.
const KEY_PATTERN = new RegExp(`^pk-(${ENVIRONMENTS.join('|')})-[A-Za-z0-9_-]{27,200}$`)

/** Of access tokens, which are always ours, so their form is exact. */
const TOKEN_PATTERN = /^pt-[A-Za-z0-9]{43}$/

export const KEY_FORM = `pk-<${ENVIRONMENTS.join('|')}>-<at least 27 url-safe characters>`

/** Creates a key in plain text. It is shown once; only its hash is stored. */
export function createKeyToken(environment: Environment): string {
  return `pk-${environment}-${createSecret()}`
}

/** Creates an access token in plain text. */
export function createAccessToken(): string {
  return `pt-${createSecret()}`
}

/** Returns 256 random bits as letters and digits. */
function createSecret(): string {
  let secret = ''
  while (secret.length < SECRET_LENGTH) secret += SECRET_ALPHABET.charAt(randomInt(SECRET_ALPHABET.length))
  return secret
}

/** Returns the environment in the key, or null if the text is not a well-formed key. */
export function environmentOfKey(token: string): Environment | null {
  const name = KEY_PATTERN.exec(token)?.[1]
  return ENVIRONMENTS.find((environment) => environment === name) ?? null
}

/** Whether the text can be a key or an access token. */
export function isKeyForm(token: string): boolean {
  return KEY_PATTERN.test(token) || TOKEN_PATTERN.test(token)
}

export function isAccessTokenForm(token: string): boolean {
  return TOKEN_PATTERN.test(token)
}

/** Tells hashes of access tokens from those of keys, which are in another table. */
export const TOKEN_HASH_PREFIX = 'pt:'

/** The name of a key or access token in memory. */
export function nameOfSecret(token: string): string {
  return isAccessTokenForm(token) ? TOKEN_HASH_PREFIX + hashKey(token) : hashKey(token)
}

export function isHashOfToken(name: string): boolean {
  return name.startsWith(TOKEN_HASH_PREFIX)
}

/** SHA-256 without salt or stretching is enough, because the secret is random and cannot be guessed from its hash. */
export function hashKey(token: string): string {
  return hash('sha256', token, 'hex')
}

/** Returns enough of a key for its owner to recognise it, and too little to use it. */
export function shownPrefixOfKey(token: string): string {
  const secretStart = token.indexOf('-', 'pk-'.length) + 1
  return `${token.slice(0, secretStart + SHOWN_SECRET_LENGTH)}…`
}
