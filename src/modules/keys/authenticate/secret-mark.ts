import type { Queryable } from '../../../storage/database.ts'
import type { Caller } from './caller.ts'

const MARK_BYTES = 8

/** The beginning of the hash of a secret. It tells two secrets of a key apart, and nobody can compute a secret from it. */
export function markOfSecret(hash: Buffer): string {
  return hash.subarray(0, MARK_BYTES).toString('hex')
}

/** Whether it is the secret of now, or else when it stops working. */
export type SecretState = { readonly isCurrent: true } | { readonly isCurrent: false; readonly endsAt: Date }

/**
 * Returns null if the secret of the caller has ended. It cannot be replaced before the transaction ends. A caller without a secret, such as a
 * session, counts as one with the secret of now.
 */
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
