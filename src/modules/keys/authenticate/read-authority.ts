import { AppError } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { Caller } from './caller.ts'
import { isActive, KEY_COLUMNS, keyRecordFromRow, type KeyRecord, type KeyRow } from '../key-record.ts'
import type { Authority } from '../key-rights.ts'
import { isEnded } from './is-ended.ts'
import { heldPermissions, heldScopes } from '../permissions/held-permissions.ts'
import { ownerRoles } from '../permissions/owner-roles.ts'

/** Reads the caller's rights from the database with a lock, so that a restriction that is being added is not bypassed. */
export async function readAuthority(
  transaction: Queryable,
  caller: Caller,
  nowMs: number,
): Promise<Authority> {
  if (caller.permissions.has('gateway.manage')) return { kind: 'operator', environment: caller.environment }
  const [row] = await transaction.query<KeyRow>(
    `SELECT ${KEY_COLUMNS} FROM api_keys WHERE id = $1 AND account_id = $2 FOR SHARE`,
    [caller.keyId, caller.accountId],
  )
  const key = row === undefined ? null : keyRecordFromRow(row)
  if (key === null || !isActive(key, nowMs))
    throw new AppError('invalid_api_key', 'The API key that asks for this has been revoked or has expired.')
  return authorityOf(key)
}

function authorityOf(key: KeyRecord): Authority {
  return {
    kind: 'key',
    key: { ...key, scopes: heldScopes(key) },
    storedScopes: key.scopes,
    permissions: heldPermissions(key),
  }
}

/**
 * Returns the same authority with what it may do in a project of its account. A person has there the roles of the project too, with
 * the same key.
 */
export async function authorityIn(
  queryable: Queryable,
  authority: Authority,
  projectId: string | null,
): Promise<Authority> {
  if (authority.kind === 'operator' || projectId === null || !isUuid(projectId)) return authority
  const { key } = authority
  if (key.userId === null || key.projectId === projectId) return authority
  const owner = { accountId: key.accountId, projectId, userId: key.userId, serviceAccountId: null }
  const stored = { ...key, scopes: authority.storedScopes }
  return authorityOf({ ...stored, ownerRoles: await readOwnerRoles(queryable, owner) })
}

export interface OwnerPlace {
  readonly accountId: string
  readonly projectId: string | null
  readonly userId: string | null
  readonly serviceAccountId: string | null
}

/**
 * Returns the roles that the owner of a key has, or would have, there: none if its keys would be refused. Null for the account itself.
 */
export async function readOwnerRoles(
  queryable: Queryable,
  { accountId, projectId, userId, serviceAccountId }: OwnerPlace,
): Promise<readonly string[] | null> {
  const [row] = await queryable.query<{ roles: string[] | null; is_ended: boolean }>(
    `SELECT ${ownerRoles('k')} AS roles, ${isEnded('k')} AS is_ended FROM (SELECT $1::uuid AS account_id, $2::uuid AS project_id, $3::uuid AS user_id,
       $4::uuid AS service_account_id) k`,
    [accountId, projectId, userId, serviceAccountId],
  )
  return row?.is_ended === false ? row.roles : []
}
