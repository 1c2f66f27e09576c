import type { Queryable } from '../../storage/database.ts'

/** How a session can prove once more who uses it. */
export interface WaysToConfirm {
  readonly passkey: boolean
  /** The provider that the person signed in at. */
  readonly providerId: string | null
  readonly key: boolean
}

export async function waysToConfirm(
  queryable: Queryable,
  sessionId: string | null,
  relyingPartyId: string | null,
): Promise<WaysToConfirm> {
  const [row] = await queryable.query<{ passkey: boolean; provider_id: string | null; key: boolean }>(
    `SELECT s.issuer_id AS provider_id,
       EXISTS (SELECT FROM passkeys p WHERE p.account_id = s.account_id AND p.user_id = k.user_id AND p.rp_id = $2) AS passkey,
       NOT k.is_of_sessions OR EXISTS (
         SELECT FROM api_keys o WHERE o.account_id = s.account_id AND o.user_id = k.user_id AND NOT o.is_of_sessions
           AND o.revoked_at IS NULL AND (o.expires_at IS NULL OR o.expires_at > now()) AND o.created_at <= s.created_at) AS key
     FROM sessions s JOIN api_keys k ON k.id = s.key_id WHERE s.id = $1`,
    [sessionId, relyingPartyId],
  )
  if (row === undefined) return { passkey: false, providerId: null, key: false }
  return { passkey: row.passkey, providerId: row.provider_id, key: row.key }
}
