import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** Encrypts secrets for the database. */
export interface Sealer {
  /** Tells keys apart without revealing them. */
  readonly fingerprint: string
  /** Encrypts a text. The result can be decrypted only with the same `place`. */
  seal(text: string, place: string): Buffer
  /** Returns null if the text was sealed with another key or place, or was changed. */
  open(sealed: Uint8Array, place: string): string | null
  /** The same for bytes. */
  sealBytes(bytes: Uint8Array, place: string): Buffer
  openBytes(sealed: Uint8Array, place: string): Buffer | null
}

/** Seals with one key, and opens what other keys have sealed too. */
export interface Keyring extends Sealer {
  /** The fingerprints of the other keys. */
  readonly otherFingerprints: readonly string[]
  /** Whether its own key can open this. */
  isCurrent(sealed: Uint8Array, place: string): boolean
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const FINGERPRINT_LENGTH = 32

export function createSealer(secret: string | Uint8Array): Sealer {
  const key = createHash('sha256').update('parkway sealing key\0').update(secret).digest()
  const fingerprint = createHash('sha256').update('parkway sealing fingerprint\0').update(key).digest('hex')
  const sealBytes: Sealer['sealBytes'] = (bytes, place) => {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(place))
    const sealed = [cipher.update(bytes), cipher.final()]
    return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed])
  }
  const openBytes: Sealer['openBytes'] = (sealed, place) => {
    try {
      const nonce = sealed.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(place))
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
    } catch {
      return null
    }
  }
  return {
    fingerprint: fingerprint.slice(0, FINGERPRINT_LENGTH),
    seal: (text, place) => sealBytes(Buffer.from(text), place),
    open: (sealed, place) => openBytes(sealed, place)?.toString('utf8') ?? null,
    sealBytes,
    openBytes,
  }
}

/** `others` are keys of before, or of later: while they are replaced, gateways with either of them open what both of them sealed. */
export function createKeyring(
  secret: string | Uint8Array,
  others: readonly (string | Uint8Array)[] = [],
): Keyring {
  const own = createSealer(secret)
  const rest = others.map(createSealer).filter(({ fingerprint }) => fingerprint !== own.fingerprint)
  const openBytes: Sealer['openBytes'] = (sealed, place) => {
    for (const sealer of [own, ...rest]) {
      const bytes = sealer.openBytes(sealed, place)
      if (bytes !== null) return bytes
    }
    return null
  }
  return {
    ...own,
    otherFingerprints: rest.map(({ fingerprint }) => fingerprint),
    isCurrent: (sealed, place) => own.openBytes(sealed, place) !== null,
    openBytes,
    open: (sealed, place) => openBytes(sealed, place)?.toString('utf8') ?? null,
  }
}
