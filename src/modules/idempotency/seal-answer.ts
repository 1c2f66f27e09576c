import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, deflateRaw, inflateRaw } from 'node:zlib'

/** An answer as it can be given again. */
export interface KeptAnswer {
  readonly status: number
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: Buffer
}

interface SecretsSource {
  readonly accountId: string
  readonly key: string
  readonly method: string
  readonly url: string
  readonly body: string | Buffer
}

interface Secrets {
  /** Finds the row. */
  readonly keyHash: Buffer
  /** Tells this request from another one. */
  readonly fingerprint: Buffer
  /** Never stored: who sends the same request under the same key has it again. */
  readonly sealingKey: Buffer
}

/** Half of one keyed hash is compared, the other half seals: neither tells anything of the other. */
export function deriveSecrets({ accountId, key, method, url, body }: SecretsSource): Secrets {
  const digest = createHmac('sha512', key).update(`${accountId}\n${method}\n${url}\n`).update(body).digest()
  return {
    keyHash: createHash('sha256').update(`${accountId}\n${key}`).digest(),
    fingerprint: digest.subarray(0, 32),
    sealingKey: digest.subarray(32),
  }
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const LENGTH_BYTES = 4
/** More than is ever kept; a bound for what is unpacked. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024

const pack = promisify(deflateRaw)
const unpack = promisify(inflateRaw)

/** Packed, because events repeat themselves, then sealed. */
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

/** Throws when the bytes are not what was sealed with this key. */
export async function openAnswer(sealed: Buffer, sealingKey: Buffer): Promise<KeptAnswer> {
  const decipher = createDecipheriv(CIPHER, sealingKey, sealed.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const packed = [decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]
  const plain = await unpack(Buffer.concat(packed), { maxOutputLength: UNPACKED_BYTES_MAX })
  const bodyStart = LENGTH_BYTES + plain.readUInt32BE()
  const [status, ...headers] = plain.toString('utf8', LENGTH_BYTES, bodyStart).split('\n')
  return { status: Number(status), headers, body: plain.subarray(bodyStart) }
}
