import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { KEY_COLUMNS, keyRecordFromRow, type KeyRecord, type KeyRow } from './key-record.ts'

/** Throws `not_found` also for a key of another account. */
export async function readKey(
  queryable: Queryable,
  accountId: string,
  keyId: string,
  { forUpdate = false } = {},
): Promise<KeyRecord> {
  if (!isUuid(keyId) || !isUuid(accountId)) throw notFound('API key')
  const [row] = await queryable.query<KeyRow>(
    `SELECT ${KEY_COLUMNS} FROM api_keys WHERE id = $1 AND account_id = $2 ${forUpdate ? 'FOR UPDATE' : ''}`,
    [keyId, accountId],
  )
  if (row === undefined) throw notFound('API key')
  return keyRecordFromRow(row)
}

/** Returns keys, newest first, including revoked keys, because usage is attributed to them. */
export async function listKeys(
  queryable: Queryable,
  accountId: string,
  { limit, afterId }: PageRequest,
): Promise<Page<KeyRecord>> {
  const [rows, [count]] = await Promise.all([
    // Reads one row more than requested to detect further pages.
    queryable.query<KeyRow>(
      `SELECT ${KEY_COLUMNS} FROM api_keys
       WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
      [accountId, afterId ?? ID_AFTER_ALL, limit + 1],
    ),
    queryable.query<{ total: bigint }>('SELECT count(*) AS total FROM api_keys WHERE account_id = $1', [
      accountId,
    ]),
  ])
  return {
    items: rows.slice(0, limit).map(keyRecordFromRow),
    total: Number(count?.total ?? 0),
    hasMore: rows.length > limit,
  }
}
