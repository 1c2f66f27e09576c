import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, openPage, type OpenPage, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { isEnded } from './authenticate/is-ended.ts'
import { ownedKeyFromRow, SELECT_OWNED_KEY, type OwnedKey, type OwnedKeyRow } from './owned-key.ts'

/** Whether keys of people who have left, and of archived projects, are listed. */
export type OwnerAccess = 'active' | 'inactive' | 'any'

interface ProjectPlace {
  readonly accountId: string
  readonly projectId: string
}

/** Returns the keys of a project that are not revoked, newest first. */
export async function listProjectKeys(
  queryable: Queryable,
  { accountId, projectId }: ProjectPlace,
  { limit, afterId }: PageRequest,
  access: OwnerAccess,
): Promise<OpenPage<OwnedKey>> {
  const rows = await queryable.query<OwnedKeyRow>(
    `${SELECT_PROJECT_KEY} AND id < $3 AND ($4 = 'any' OR ${isEnded('api_keys')} = ($4 = 'inactive')) ORDER BY id DESC LIMIT $5`,
    [accountId, projectId, afterId ?? ID_AFTER_ALL, access, limit + 1],
  )
  return openPage(rows.map(ownedKeyFromRow), limit)
}

export async function readProjectKey(
  queryable: Queryable,
  { accountId, projectId }: ProjectPlace,
  keyId: string,
): Promise<OwnedKey> {
  const [row] = isUuid(keyId)
    ? await queryable.query<OwnedKeyRow>(`${SELECT_PROJECT_KEY} AND id = $3`, [accountId, projectId, keyId])
    : []
  if (row === undefined) throw notFound('API key')
  return ownedKeyFromRow(row)
}

const SELECT_PROJECT_KEY = `${SELECT_OWNED_KEY}
  WHERE account_id = $1 AND project_id = $2 AND revoked_at IS NULL AND NOT is_of_sessions`
