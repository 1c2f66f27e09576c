import type { Queryable } from '../../storage/database.ts'
import { recordChange, type AccountChange, type RequestOrigin } from './record-change.ts'

/** Somebody tried to sign in with something that once was of an account: a revoked key, a link that was used. */
export interface FailedSignIn {
  readonly accountId: string
  readonly projectId: string | null
  /** What they had: the id of a key, an invitation or a session. */
  readonly resourceId: string
  /** Who it certainly was: the session that could not be confirmed. By default nobody knows. */
  readonly actor?: AccountChange['actor']
  readonly origin: RequestOrigin
  readonly error: { readonly code: string; readonly message: string }
}

/**
 * Writes an entry to the audit log of the account, at most one a minute for each resource: whoever holds a revoked key cannot fill the
 * log. What leads to no account has no entry, and the answer to the client stays what it is.
 */
export async function recordFailedSignIn(queryable: Queryable, failed: FailedSignIn): Promise<void> {
  const { accountId, projectId, resourceId, origin, error } = failed
  const recent = await queryable.query(RECENT, [accountId, resourceId])
  if (recent.length > 0) return
  await recordChange(queryable, {
    actor: failed.actor ?? { accountId, keyId: null, origin },
    type: 'login.failed',
    projectId,
    resourceId,
    details: { error_code: error.code, error_message: error.message },
  })
}

// Ids begin with the time in milliseconds, so that only entries of the last minute are read.
const RECENT = `
  SELECT FROM account_changes WHERE account_id = $1 AND resource_id = $2 AND type = 'login.failed'
    AND id > (lpad(to_hex(floor(extract(epoch FROM now() - interval '1 minute') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
  LIMIT 1`
