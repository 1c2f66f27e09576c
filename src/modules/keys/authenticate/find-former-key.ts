import type { Queryable } from '../../../storage/database.ts'
import { hashKey, isKeyForm } from '../key-form.ts'

interface FormerKey {
  readonly accountId: string
  readonly projectId: string | null
  readonly keyId: string
}

/** Returns whose key this is or was, also if it was revoked or has expired. Never use it to let somebody in. */
export async function findFormerKey(queryable: Queryable, token: string): Promise<FormerKey | null> {
  if (!isKeyForm(token)) return null
  const [row] = await queryable.query<{ account_id: string; project_id: string | null; id: string }>(
    'SELECT account_id, project_id, id FROM api_keys WHERE (key_hash = $1 OR former_key_hash = $1) AND NOT is_of_sessions',
    [Buffer.from(hashKey(token), 'hex')],
  )
  return row === undefined ? null : { accountId: row.account_id, projectId: row.project_id, keyId: row.id }
}
