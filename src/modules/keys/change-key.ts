import { AppError } from '../../kernel/app-error.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import type { Caller, Scope } from './caller.ts'
import { KEY_COLUMNS, keyRecordFromRow, type KeyRecord, type KeyRow } from './key-record.ts'
import { readKey } from './read-keys.ts'

/** What is absent stays as it is. */
export interface KeyChanges {
  readonly name?: string
  /** False revokes the key. A revoked key stays revoked. */
  readonly isActive?: boolean
  readonly scopes?: readonly Scope[]
  readonly allowedModels?: readonly string[] | null
  readonly limitNanoUsd?: NanoUsd | null
  readonly requestsPerMinute?: number | null
  readonly expiresAtMs?: number | null
}

export interface KeyChangeRequest {
  readonly caller: Pick<Caller, 'scopes'>
  readonly accountId: string
  readonly keyId: string
  readonly nowMs: number
}

export async function updateKey(
  database: Database,
  { caller, accountId, keyId, nowMs }: KeyChangeRequest,
  changes: KeyChanges,
): Promise<KeyRecord> {
  return database.transaction(async (transaction) => {
    const before = await readKey(transaction, accountId, keyId, { forUpdate: true })
    requireScopes(caller, [...before.scopes, ...(changes.scopes ?? [])])
    if (changes.isActive === true && before.revokedAtMs !== null) {
      throw new AppError('conflict', 'A revoked key cannot be made active again. Create a new one.')
    }
    const { isActive, ...fields } = changes
    const revokedAtMs = isActive === false ? (before.revokedAtMs ?? nowMs) : before.revokedAtMs
    return writeKey(transaction, { ...before, ...fields, revokedAtMs })
  })
}

/** Revoking twice is the same as once, so that a client may repeat the request. */
export async function revokeKey(
  database: Database,
  { caller, accountId, keyId, nowMs }: KeyChangeRequest,
): Promise<KeyRecord> {
  return updateKey(database, { caller, accountId, keyId, nowMs }, { isActive: false })
}

/** No key gives or takes what it does not hold itself; the operator's may everything. */
export function requireScopes(caller: Pick<Caller, 'scopes'>, scopes: readonly Scope[]): void {
  if (caller.scopes.has('admin')) return
  const missing = scopes.find((scope) => !caller.scopes.has(scope))
  if (missing === undefined) return
  throw new AppError(
    'forbidden',
    `A key with the scope '${missing}' can only be managed by a key that has it.`,
  )
}

async function writeKey(transaction: Queryable, key: KeyRecord): Promise<KeyRecord> {
  const [row] = await transaction.query<KeyRow>(
    `UPDATE api_keys SET name = $2, scopes = $3, allowed_models = $4, limit_nano_usd = $5, requests_per_minute = $6,
       expires_at = $7, revoked_at = $8
     WHERE id = $1 RETURNING ${KEY_COLUMNS}`,
    [
      key.id,
      key.name,
      key.scopes,
      key.allowedModels,
      key.limitNanoUsd,
      key.requestsPerMinute,
      key.expiresAtMs === null ? null : new Date(key.expiresAtMs),
      key.revokedAtMs === null ? null : new Date(key.revokedAtMs),
    ],
  )
  if (row === undefined) throw new Error(`key ${key.id} vanished while it was locked`)
  return keyRecordFromRow(row)
}
