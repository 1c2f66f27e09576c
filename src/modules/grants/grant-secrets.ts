import { createHash, createHmac, randomBytes } from 'node:crypto'

const SECRET_BYTES = 32
const DEVICE_CODE_PATTERN = /^pd-[\w-]{43}$/
const REFRESH_TOKEN_PATTERN = /^pr-[\w-]{43}$/

/** Creates the secret with which a device polls. Only its hash is stored. */
export function createDeviceCode(): string {
  return `pd-${randomBytes(SECRET_BYTES).toString('base64url')}`
}

export function isDeviceCode(text: string): boolean {
  return DEVICE_CODE_PATTERN.test(text)
}

/** Creates the first refresh token of a tool. Only its hash is stored. */
export function createRefreshToken(): string {
  return `pr-${randomBytes(SECRET_BYTES).toString('base64url')}`
}

export function isRefreshToken(text: string): boolean {
  return REFRESH_TOKEN_PATTERN.test(text)
}

export function createSalt(): Buffer {
  return randomBytes(SECRET_BYTES)
}

/**
 * Returns the successor of a refresh token. It follows from the token and a stored salt, so that two processes that use the same token at
 * once get the same successor although it is stored nowhere: neither the token nor the database alone gives it.
 */
export function succeedRefreshToken(token: string, salt: Buffer): string {
  return `pr-${createHmac('sha256', token).update(salt).digest('base64url')}`
}

/** Without salt or stretching, because the secrets are random. Codes for people live minutes and give nothing to whoever finds one. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
