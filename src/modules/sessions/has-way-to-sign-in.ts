import type { Queryable } from '../../storage/database.ts'

/** Whether a member could sign in again: with a passkey, with a key of their own, or with a provider that is enabled. */
export async function hasWayToSignIn(
  queryable: Queryable,
  { accountId, userId }: { readonly accountId: string; readonly userId: string },
): Promise<boolean> {
  const [row] = await queryable.query<{ has_way: boolean }>(
    `SELECT EXISTS (SELECT FROM passkeys WHERE account_id = $1 AND user_id = $2)
       OR EXISTS (SELECT FROM api_keys WHERE account_id = $1 AND user_id = $2 AND NOT is_of_sessions AND revoked_at IS NULL
         AND (expires_at IS NULL OR expires_at > now()))
       OR EXISTS (SELECT FROM identities i JOIN identity_providers p ON p.id = i.provider_id
         WHERE i.account_id = $1 AND i.user_id = $2 AND p.is_enabled) AS has_way`,
    [accountId, userId],
  )
  return row?.has_way === true
}
