import { AppError } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Caller } from './caller.ts'
import { isActive, keyRecordFromRow, type KeyRecord, type KeyRow } from './key-record.ts'

/**
 * Who holds the key now, for work that goes on after its request was answered. Throws what a request with the key would
 * be refused with.
 */
export async function readCaller(
  queryable: Queryable,
  { accountId, keyId, nowMs }: { accountId: string; keyId: string; nowMs: number },
): Promise<Caller> {
  const [row] = await queryable.query<KeyRow & { account_status: string }>(
    `SELECT k.*, a.status AS account_status FROM api_keys k JOIN accounts a ON a.id = k.account_id
     WHERE k.id = $1 AND k.account_id = $2`,
    [keyId, accountId],
  )
  const key = row === undefined ? null : keyRecordFromRow(row)
  if (key === null || !isActive(key, nowMs))
    throw new AppError('invalid_api_key', 'The API key that asked for this has been revoked or has expired.')
  if (row?.account_status !== 'active') throw new AppError('account_suspended', 'This account is suspended.')
  return callerOf(key)
}

export function callerOf(key: KeyRecord): Caller {
  return Object.freeze({
    accountId: key.accountId,
    keyId: key.id,
    environment: key.environment,
    scopes: new Set(key.scopes),
    allowedModels: key.allowedModels === null ? null : new Set(key.allowedModels),
    requestsPerMinute: key.requestsPerMinute,
    limitNanoUsd: key.limitNanoUsd,
  })
}
