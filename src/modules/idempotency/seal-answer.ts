import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, type Hmac } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { constants, deflateRaw, inflateRaw } from 'node:zlib'
import type { Place } from '../../storage/place.ts'

/** A stored answer that can be replayed. */
export interface KeptAnswer {
  readonly status: number
  /** Names and values alternate. */
  readonly headers: readonly string[]
  readonly body: Buffer
}

interface SecretsSource {
  readonly place: Place
  readonly key: string
  readonly method: string
  readonly url: string
  readonly body: string | Buffer
}

interface Secrets {
  /** The lookup key of the row. */
  readonly keyHash: Buffer
  /** Distinguishes this request from others with the same key. */
  readonly fingerprint: Buffer
  /** Never stored. It can be derived again only from the same request and key. */
  readonly sealingKey: Buffer
}

/** Longer bodies are hashed in pieces, between which other requests get their turn. */
const PIECE_BYTES = 4 * 1024 * 1024

/**
 * Derives the secrets. One half of a keyed hash is stored for comparison and the other half encrypts; neither reveals the other.
 */
export async function deriveSecrets({ place, key, method, url, body }: SecretsSource): Promise<Secrets> {
  const owner = ownerOf(place)
  const hash = createHmac('sha512', key).update(`${owner}\n${method}\n${url}\n`)
  if (body.length <= PIECE_BYTES) hash.update(body)
  else await updateInTurns(hash, Buffer.from(body))
  const digest = hash.digest()
  return {
    keyHash: hashKey(place, key),
    fingerprint: digest.subarray(0, 32),
    sealingKey: digest.subarray(32),
  }
}

/** The lookup key of the row of an idempotency key. */
export function hashKey(place: Place, key: string): Buffer {
  return createHash('sha256')
    .update(`${ownerOf(place)}\n${key}`)
    .digest()
}

/** Projects do not share keys. Without a project the hashes are those that are stored already. */
function ownerOf({ accountId, projectId }: Place): string {
  return projectId === null ? accountId : `${accountId}\n${projectId}`
}

async function updateInTurns(hash: Hmac, bytes: Buffer): Promise<void> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    hash.update(bytes.subarray(start, start + PIECE_BYTES))
    await nextTurn()
  }
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const LENGTH_BYTES = 4
/** A limit on decompression, above the size of any stored answer. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024

const pack = promisify(deflateRaw)
const unpack = promisify(inflateRaw)

/** Compresses the answer, because events are repetitive, and encrypts it. */
export async function sealAnswer(answer: KeptAnswer, sealingKey: Buffer): Promise<Buffer> {
  const head = Buffer.from([String(answer.status), ...answer.headers].join('\n'))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(head.length)
  const packed = await pack(Buffer.concat([length, head, answer.body]), { level: constants.Z_BEST_SPEED })
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, sealingKey, nonce)
  const sealed = [cipher.update(packed), cipher.final()]
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed])
}

/** Throws if the bytes were not encrypted with this key. */
export async function openAnswer(sealed: Buffer, sealingKey: Buffer): Promise<KeptAnswer> {
  const decipher = createDecipheriv(CIPHER, sealingKey, sealed.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const packed = [decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]
  const plain = await unpack(Buffer.concat(packed), { maxOutputLength: UNPACKED_BYTES_MAX })
  const bodyStart = LENGTH_BYTES + plain.readUInt32BE()
  const [status, ...headers] = plain.toString('utf8', LENGTH_BYTES, bodyStart).split('\n')
  return { status: Number(status), headers, body: plain.subarray(bodyStart) }
}
