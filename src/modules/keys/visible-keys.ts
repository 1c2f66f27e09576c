import { AppError, notFound } from '../../kernel/app-error.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Caller } from './authenticate/caller.ts'
import type { KeyRecord } from './key-record.ts'
import { mayRead } from './reader.ts'
import { listKeys, readKey } from './read-keys.ts'

/**
 * Returns all keys of the account or of the caller's project if the caller may see it, otherwise only the caller's key, so that a
 * client can read its own key. The key of a session is not listed.
 */
export async function listVisibleKeys(
  queryable: Queryable,
  caller: Caller,
  page: PageRequest,
): Promise<Page<KeyRecord>> {
  if (mayRead(caller, 'organization.read'))
    return listKeys(queryable, caller.accountId, page, caller.projectId)
  const own = await findOwnKey(queryable, caller)
  if (own === null) return { items: [], total: 0, hasMore: false }
  return { items: own.id < (page.afterId ?? ID_AFTER_ALL) ? [own] : [], total: 1, hasMore: false }
}

export async function readVisibleKey(
  queryable: Queryable,
  caller: Caller,
  keyId: string,
): Promise<KeyRecord> {
  if (!mayRead(caller, 'organization.read') && keyId.toLowerCase() !== caller.keyId) throw notFound('API key')
  return readKey(queryable, caller.accountId, keyId, { projectId: caller.projectId })
}

/** Returns null for a session of a person, whose key is hidden. */
function findOwnKey(queryable: Queryable, { accountId, keyId }: Caller): Promise<KeyRecord | null> {
  return readKey(queryable, accountId, keyId).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  })
}
