import type { Queryable } from '../../../storage/database.ts'
import type { Caller } from './caller.ts'

const MARK_BYTES = 8

/** Tells the secrets of one key apart. Nobody can derive a secret from it. */
export function markOfSecret(hash: Buffer): string {
  return hash.subarray(0, MARK_BYTES).toString('hex')
}

/** Until when a secret of a key works, with the lock that keeps it from being replaced meanwhile. */
export type SecretState = { readonly isCurrent: true } | { readonly isCurrent: false; readonly endsAt: Date }

/** Returns null if the secret that the caller has works no more. A caller without one has the rights of the key as it is. */
export async function lockSecret(
  transaction: Queryable,
  { keyId, secretMark }: Pick<Caller, 'keyId' | 'secretMark'>,
): Promise<SecretState | null> {
  if (secretMark === undefined) return { isCurrent: true }
  const [row] = await transaction.query<{
    current: string
    former: string | null
    former_ends_at: Date | null
  }>(
    `SELECT encode(substring(key_hash FOR ${MARK_BYTES}), 'hex') AS current,
       encode(substring(former_key_hash FOR ${MARK_BYTES}), 'hex') AS former, former_ends_at
     FROM api_keys WHERE id = $1 FOR SHARE`,
    [keyId],
  )
  if (row?.current === secretMark) return { isCurrent: true }
  const endsAt = row?.former === secretMark ? row.former_ends_at : null
  return endsAt === null || endsAt === undefined ? null : { isCurrent: false, endsAt }
}
