import { randomBytes } from 'node:crypto'
import { createSealer, type Sealer } from './seal-text.ts'

/** A secret that is sealed with a key of its own, and that key, sealed with the gateway's key. */
export interface SealedSecret {
  readonly sealed: Buffer
  readonly wrappedKey: Buffer
}

const KEY_BYTES = 32

/** Seals a secret so that another key of the gateway needs only `wrappedKey` anew. */
export function sealSecret(sealer: Pick<Sealer, 'sealBytes'>, secret: string, place: string): SealedSecret {
  const key = randomBytes(KEY_BYTES)
  return { sealed: createSealer(key).seal(secret, place), wrappedKey: sealer.sealBytes(key, place) }
}

/** Returns null if it was sealed with another key or for another place, or was changed. */
export function openSecret(
  sealer: Pick<Sealer, 'openBytes'>,
  { sealed, wrappedKey }: SealedSecret,
  place: string,
): string | null {
  const key = sealer.openBytes(wrappedKey, place)
  return key === null ? null : createSealer(key).open(sealed, place)
}
