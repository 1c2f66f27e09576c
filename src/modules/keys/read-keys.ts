import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { KEY_COLUMNS, keyRecordFromRow, type KeyRecord, type KeyRow } from './key-record.ts'

/** Throws `not_found` also for a key of another account, of another project than the given one, and for the keys of sessions. */
export async function readKey(
  queryable: Queryable,
  accountId: string,
  keyId: string,
  { forUpdate = false, projectId = null }: { forUpdate?: boolean; projectId?: string | null } = {},
): Promise<KeyRecord> {
  if (!isUuid(keyId) || !isUuid(accountId)) throw notFound('API key')
  const [row] = await queryable.query<KeyRow>(
    `SELECT ${KEY_COLUMNS} FROM api_keys WHERE id = $1 AND account_id = $2 AND NOT is_of_sessions
       AND ($3::uuid IS NULL OR project_id = $3) ${forUpdate ? 'FOR UPDATE' : ''}`,
    [keyId, accountId, projectId],
  )
  if (row === undefined) throw notFound('API key')
  return keyRecordFromRow(row)
}

/**
 * Returns keys, newest first, including revoked keys, because usage is attributed to them.
 * @param projectId the only project whose keys are listed. Null for all keys of the account.
 */
export async function listKeys(
  queryable: Queryable,
  accountId: string,
  { limit, afterId }: PageRequest,
  projectId: string | null = null,
): Promise<Page<KeyRecord>> {
  const [rows, [count]] = await Promise.all([
    // Reads one row more than requested to detect further pages.
    queryable.query<KeyRow>(
      `SELECT ${KEY_COLUMNS} FROM api_keys
       WHERE account_id = $1 AND id < $2 AND NOT is_of_sessions AND ($4::uuid IS NULL OR project_id = $4)
       ORDER BY id DESC LIMIT $3`,
      [accountId, afterId ?? ID_AFTER_ALL, limit + 1, projectId],
    ),
    queryable.query<{ total: bigint }>(
      `SELECT count(*) AS total FROM api_keys
       WHERE account_id = $1 AND NOT is_of_sessions AND ($2::uuid IS NULL OR project_id = $2)`,
      [accountId, projectId],
    ),
  ])
  return {
    items: rows.slice(0, limit).map(keyRecordFromRow),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}
