import type { Queryable } from '../../storage/database.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'

/** Ends all sessions of a member in an account and returns their ids. */
export async function endSessionsOf(
  transaction: Queryable,
  { accountId, userId }: { accountId: string; userId: string },
): Promise<string[]> {
  const ended = await transaction.query<{ id: string }>(
    `DELETE FROM sessions WHERE account_id = $1
       AND key_id IN (SELECT id FROM api_keys WHERE account_id = $1 AND user_id = $2) RETURNING id`,
    [accountId, userId],
  )
  return ended.map(({ id }) => id)
}

/** Writes into the audit log that sessions ended. */
export async function recordEnded(
  transaction: Queryable,
  actor: AccountChange['actor'],
  sessionIds: readonly string[],
): Promise<void> {
  for (const resourceId of sessionIds)
    await recordChange(transaction, { actor, type: 'logout.succeeded', projectId: null, resourceId })
}
