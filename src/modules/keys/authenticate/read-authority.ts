import { AppError } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { Caller } from './caller.ts'
import { isActive, KEY_COLUMNS, keyRecordFromRow, type KeyRow } from '../key-record.ts'
import type { Authority } from '../key-rights.ts'
import { scopesOfRole } from './owner-role.ts'

/** Reads the caller's rights from the database with a lock, so that a restriction that is being added is not bypassed. */
export async function readAuthority(
  transaction: Queryable,
  caller: Caller,
  nowMs: number,
): Promise<Authority> {
  if (caller.scopes.has('admin')) return { kind: 'operator', environment: caller.environment }
  const [row] = await transaction.query<KeyRow>(
    `SELECT ${KEY_COLUMNS} FROM api_keys WHERE id = $1 AND account_id = $2 FOR SHARE`,
    [caller.keyId, caller.accountId],
  )
  const key = row === undefined ? null : keyRecordFromRow(row)
  if (key === null || !isActive(key, nowMs))
    throw new AppError('invalid_api_key', 'The API key that asks for this has been revoked or has expired.')
  return { kind: 'key', key: { ...key, scopes: scopesOfRole(key.ownerRole, key.scopes) } }
}
