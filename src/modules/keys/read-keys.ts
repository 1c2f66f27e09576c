import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { KEY_COLUMNS, keyRecordFromRow, type KeyRecord, type KeyRow } from './key-record.ts'

/** Another account's key is not found, like one that never was. */
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

/** Newest first, revoked keys included: usage is attributed to them. */
export async function listKeys(
  queryable: Queryable,
  accountId: string,
  { limit, afterId }: PageRequest,
): Promise<Page<KeyRecord>> {
  const [rows, [count]] = await Promise.all([
    // One more than asked tells whether there are more.
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
