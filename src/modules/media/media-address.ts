import { createHmac, timingSafeEqual } from 'node:crypto'
import { formatOfId } from './media-format.ts'

export interface MediaAddress {
  readonly id: string
  readonly expiresAtMs: number
}

const ID_BYTES = 16
const EXPIRY_BYTES = 4
const SIGNATURE_BYTES = 32
const TOKEN_CHARACTERS = Math.ceil(((ID_BYTES + EXPIRY_BYTES + SIGNATURE_BYTES) * 4) / 3)
const TOKEN_FORM = new RegExp(`^([A-Za-z0-9_-]{${TOKEN_CHARACTERS}})(?:\\.([a-z0-9]{1,5}))?$`)
const EXPIRY_SECONDS_MAX = 2 ** 32 - 1

/** Returns the last part of a URL: the file id, its expiry and a signature. */
export function signAddress(secret: Buffer, { id, expiresAtMs }: MediaAddress): string {
  const said = Buffer.alloc(ID_BYTES + EXPIRY_BYTES)
  said.write(id.replaceAll('-', ''), 'hex')
  said.writeUInt32BE(Math.min(Math.floor(expiresAtMs / 1000), EXPIRY_SECONDS_MAX), ID_BYTES)
  const token = Buffer.concat([said, sign(secret, said)]).toString('base64url')
  const format = formatOfId(id)
  return format === null ? token : `${token}.${format.extension}`
}

/** Returns null for a token without a valid signature. Does not check the expiry. */
export function readAddress(secret: Buffer, token: string): MediaAddress | null {
  const [, encoded, extension] = TOKEN_FORM.exec(token) ?? []
  if (encoded === undefined) return null
  const bytes = Buffer.from(encoded, 'base64url')
  const said = bytes.subarray(0, ID_BYTES + EXPIRY_BYTES)
  const signature = bytes.subarray(ID_BYTES + EXPIRY_BYTES)
  if (signature.length !== SIGNATURE_BYTES || !timingSafeEqual(signature, sign(secret, said))) return null
  // The last character has unused bits. Accept only the canonical encoding.
  if (bytes.toString('base64url') !== encoded) return null
  const hex = said.toString('hex', 0, ID_BYTES)
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  if (extension !== formatOfId(id)?.extension) return null
  return { id, expiresAtMs: said.readUInt32BE(ID_BYTES) * 1000 }
}

// The prefix binds the signature to this purpose.
function sign(secret: Buffer, said: Buffer): Buffer {
  return createHmac('sha256', secret).update('parkway-media-address-1').update(said).digest()
}
