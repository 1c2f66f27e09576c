import type { Database } from '../../storage/database.ts'
import type { Caller, Keys } from '../keys/keys.ts'
import { SESSION_COLUMNS, sessionFromRow, type Session, type SessionRow } from './session-record.ts'

/**
 * Continues the session of the caller in another project, with a key that has the rights of the one it began with there. Null goes back
 * to that key. Returns null if the session has ended. Throws `not_found` for a project that it must not enter.
 */
export async function continueInProject(
  { database, keys }: { database: Database; keys: Pick<Keys, 'enterProject'> },
  { accountId, session }: Caller,
  projectId: string | null,
): Promise<Session | null> {
  return database.transaction(async (transaction) => {
    const [current] = await transaction.query<{ key_id: string }>(
      'SELECT key_id FROM sessions WHERE id = $1 AND account_id = $2 FOR UPDATE',
      [session?.id ?? null, accountId],
    )
    if (session === undefined || current === undefined) return null
    const place = { accountId, keyId: current.key_id }
    const projectKeyId =
      projectId === null ? null : await keys.enterProject(transaction, { ...place, projectId })
    const [row] = await transaction.query<SessionRow>(
      `UPDATE sessions SET project_id = $2, project_key_id = $3 WHERE id = $1 RETURNING ${SESSION_COLUMNS}`,
      [session.id, projectKeyId === null ? null : projectId, projectKeyId],
    )
    return row === undefined ? null : sessionFromRow(row)
  })
}
