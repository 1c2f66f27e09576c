import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, openPage, type OpenPage, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { isEnded } from './authenticate/is-ended.ts'
import { KEY_COLUMNS, keyRecordFromRow, type KeyRecord, type KeyRow } from './key-record.ts'

/** A key of a project with its owner. */
export interface ProjectKey extends KeyRecord {
  /** Null for a key that a key of the account made. */
  readonly owner: KeyOwner | null
}

interface KeyOwner {
  readonly kind: 'user' | 'service_account'
  readonly id: string
  /** Null for a service account. */
  readonly email: string | null
  readonly name: string | null
  readonly role: string
  readonly createdAtMs: number
}

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
): Promise<OpenPage<ProjectKey>> {
  const rows = await queryable.query<ProjectKeyRow>(
    `${SELECT_KEY} AND id < $3 AND ($4 = 'any' OR ${isEnded('api_keys')} = ($4 = 'inactive')) ORDER BY id DESC LIMIT $5`,
    [accountId, projectId, afterId ?? ID_AFTER_ALL, access, limit + 1],
  )
  return openPage(rows.map(projectKeyFromRow), limit)
}

export async function readProjectKey(
  queryable: Queryable,
  { accountId, projectId }: ProjectPlace,
  keyId: string,
): Promise<ProjectKey> {
  const [row] = isUuid(keyId)
    ? await queryable.query<ProjectKeyRow>(`${SELECT_KEY} AND id = $3`, [accountId, projectId, keyId])
    : []
  if (row === undefined) throw notFound('API key')
  return projectKeyFromRow(row)
}

interface ProjectKeyRow extends KeyRow {
  readonly owner: {
    readonly kind: 'user' | 'service_account'
    readonly id: string
    readonly email: string | null
    readonly name: string | null
    readonly role: string
    readonly at: number
  } | null
}

const SELECT_KEY = `
  SELECT ${KEY_COLUMNS}, coalesce(
    (SELECT json_build_object('kind', 'service_account', 'id', s.id, 'email', NULL, 'name', s.name, 'role', s.role,
       'at', floor(extract(epoch FROM s.created_at)))
     FROM service_accounts s WHERE s.id = api_keys.service_account_id),
    (SELECT json_build_object('kind', 'user', 'id', u.id, 'email', u.email, 'name', m.name, 'role', coalesce(j.role, m.role),
       'at', floor(extract(epoch FROM m.added_at)))
     FROM account_members m JOIN users u ON u.id = m.user_id
     LEFT JOIN project_members j ON j.project_id = api_keys.project_id AND j.user_id = m.user_id
     WHERE m.account_id = api_keys.account_id AND m.user_id = api_keys.user_id)) AS owner
  FROM api_keys WHERE account_id = $1 AND project_id = $2 AND revoked_at IS NULL AND NOT is_of_sessions`

const SECOND_MS = 1000

function projectKeyFromRow({ owner, ...row }: ProjectKeyRow): ProjectKey {
  if (owner === null) return { ...keyRecordFromRow(row), owner }
  const { at, ...named } = owner
  return { ...keyRecordFromRow(row), owner: { ...named, createdAtMs: at * SECOND_MS } }
}
