import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { createId } from '../../kernel/identifiers.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { Queryable } from '../../storage/database.ts'
import type { SealedColumn } from '../../storage/sealed-columns.ts'

/** A key signs for a year. */
const LASTS_MS = 365 * 86_400_000

/** A public key of receipts. */
export interface ReceiptKey {
  readonly id: string
  /** DER in base64. */
  readonly publicKey: string
  readonly createdAtMs: number
  /** Since when another one signs, or null. */
  readonly retiredAtMs: number | null
}

export interface SigningKey {
  readonly id: string
  /** Returns the signature in base64. */
  sign(text: string): string
}

interface KeyRow {
  readonly id: string
  readonly sealed_private_key: Buffer | null
  readonly created_at: Date
}

export const SEALED_RECEIPT_KEYS: SealedColumn = {
  table: 'receipt_keys',
  column: 'sealed_private_key',
  key: { id: 'uuid' },
  boundTo: ['id'],
  placeOf,
}

/** Returns the key that signs now. Makes one if there is none, if it is old, or if its secret cannot be read any more. */
export async function findSigningKey(
  queryable: Queryable,
  sealer: Sealer,
  nowMs: number,
): Promise<SigningKey> {
  const [row] = await queryable.query<KeyRow>(
    'SELECT id, sealed_private_key, created_at FROM receipt_keys WHERE retired_at IS NULL ORDER BY id DESC LIMIT 1',
  )
  const opened = row?.sealed_private_key ? sealer.openBytes(row.sealed_private_key, placeOf(row.id)) : null
  if (row !== undefined && opened !== null && nowMs - row.created_at.getTime() < LASTS_MS)
    return signingKey(row.id, createPrivateKey({ key: opened, format: 'der', type: 'pkcs8' }))
  return makeKey(queryable, sealer, nowMs)
}

async function makeKey(queryable: Queryable, sealer: Sealer, nowMs: number): Promise<SigningKey> {
  const id = createId(nowMs)
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' })
  await queryable.query(
    `WITH others AS (UPDATE receipt_keys SET retired_at = $4 WHERE retired_at IS NULL)
     INSERT INTO receipt_keys (id, public_key, sealed_private_key, created_at) VALUES ($1, $2, $3, $4)`,
    [
      id,
      publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
      sealer.sealBytes(secret, placeOf(id)),
      new Date(nowMs),
    ],
  )
  return signingKey(id, privateKey)
}

export async function listReceiptKeys(queryable: Queryable): Promise<ReceiptKey[]> {
  const rows = await queryable.query<{
    id: string
    public_key: string
    created_at: Date
    retired_at: Date | null
  }>('SELECT id, public_key, created_at, retired_at FROM receipt_keys ORDER BY id')
  return rows.map((row) => ({
    id: row.id,
    publicKey: row.public_key,
    createdAtMs: row.created_at.getTime(),
    retiredAtMs: row.retired_at?.getTime() ?? null,
  }))
}

function signingKey(id: string, key: KeyObject): SigningKey {
  return { id, sign: (text) => sign(null, Buffer.from(text), key).toString('base64') }
}

function placeOf(id: string): string {
  return `receipt_keys:${id}`
}
