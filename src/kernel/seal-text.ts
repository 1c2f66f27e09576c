import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** Encrypts short secrets for the database. */
export interface Sealer {
  /** Encrypts a text. The result can be decrypted only with the same `place`. */
  seal(text: string, place: string): Buffer
  /** Returns null if the text was sealed with another key or place, or was changed. */
  open(sealed: Uint8Array, place: string): string | null
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

export function createSealer(secret: string | Uint8Array): Sealer {
  const key = createHash('sha256').update('parkway sealing key\0').update(secret).digest()
  return {
    seal: (text, place) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(place))
      const sealed = [cipher.update(text, 'utf8'), cipher.final()]
      return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed])
    },
    open: (sealed, place) => {
      try {
        const nonce = sealed.subarray(0, NONCE_BYTES)
        const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
        decipher.setAAD(Buffer.from(place))
        decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
        const text = [decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]
        return Buffer.concat(text).toString('utf8')
      } catch {
        return null
      }
    },
  }
}
