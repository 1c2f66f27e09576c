import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { openPage, orderedPage, type OpenPage, type OrderedPageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { ownedKeyFromRow, SELECT_OWNED_KEY, type OwnedKey, type OwnedKeyRow } from './owned-key.ts'

/** Returns the keys that manage the whole account and are not revoked. */
export async function listAdminKeys(
  queryable: Queryable,
  accountId: string,
  page: OrderedPageRequest,
): Promise<OpenPage<OwnedKey>> {
  const { isBehind, inOrder, after } = orderedPage('id', '$2', page)
  const rows = await queryable.query<OwnedKeyRow>(`${SELECT_ADMIN_KEY} AND ${isBehind} ${inOrder} LIMIT $3`, [
    accountId,
    after,
    page.limit + 1,
  ])
  return openPage(rows.map(ownedKeyFromRow), page.limit)
}

/** Throws `not_found` also for keys of the account that do not manage it, and for keys of its projects. */
export async function readAdminKey(
  queryable: Queryable,
  accountId: string,
  keyId: string,
): Promise<OwnedKey> {
  const [row] = isUuid(keyId)
    ? await queryable.query<OwnedKeyRow>(`${SELECT_ADMIN_KEY} AND id = $2`, [accountId, keyId])
    : []
  if (row === undefined) throw notFound('admin API key')
  return ownedKeyFromRow(row)
}

const SELECT_ADMIN_KEY = `${SELECT_OWNED_KEY}
  WHERE account_id = $1 AND project_id IS NULL AND 'manage' = ANY (scopes) AND revoked_at IS NULL AND NOT is_of_sessions`
