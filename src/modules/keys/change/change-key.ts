import { AppError } from '../../../kernel/app-error.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { recordChange } from '../../audit/audit.ts'
import type { Caller, Scope } from '../authenticate/caller.ts'
import { KEY_COLUMNS, keyRecordFromRow, type KeyRecord, type KeyRow } from '../key-record.ts'
import {
  isRestricted,
  liftsRestrictions,
  requirePermissions,
  requireRights,
  requireScopes,
  type Authority,
} from '../key-rights.ts'
import { checkTagSettings } from '../tags/tag-rules.ts'
import { authorityIn, readAuthority } from '../authenticate/read-authority.ts'
import { heldPermissions } from '../permissions/held-permissions.ts'
import { refuseAccessToken } from '../permissions/refuse-access-token.ts'
import { readKey } from '../read-keys.ts'
import { requireKnownModels, type FindUnknownModel } from './allowed-models.ts'
import { updateHiddenKeys } from './enter-project.ts'

/** Absent members stay unchanged. */
export interface KeyChanges {
  readonly name?: string
  /** False revokes the key. A revoked key stays revoked. */
  readonly isActive?: boolean
  readonly scopes?: readonly Scope[]
  readonly allowedModels?: readonly string[] | null
  readonly limitNanoUsd?: NanoUsd | null
  readonly requestsPerMinute?: number | null
  readonly expiresAtMs?: number | null
  readonly requiredTags?: readonly string[] | null
  readonly fixedTags?: Readonly<Record<string, string>> | null
}

export interface KeyChangeRequest {
  readonly caller: Caller
  readonly accountId: string
  readonly keyId: string
  readonly nowMs: number
}

interface ChangeKeyOptions {
  readonly database: Database
  readonly findUnknownModel: FindUnknownModel
}

export async function updateKey(
  { database, findUnknownModel }: ChangeKeyOptions,
  { caller, accountId, keyId, nowMs }: KeyChangeRequest,
  changes: KeyChanges,
): Promise<KeyRecord> {
  if (changes.isActive !== false) refuseAccessToken(caller)
  return database.transaction(async (transaction) => {
    const projectId = caller.accountId === accountId ? caller.projectId : null
    const before = await readKey(transaction, accountId, keyId, { forUpdate: true, projectId })
    const authority = await authorityIn(
      transaction,
      await readAuthority(transaction, caller, nowMs),
      caller.accountId === accountId ? before.projectId : null,
    )
    requireManaged(authority, before)
    if (changes.isActive === true && before.revokedAtMs !== null) {
      throw new AppError('conflict', 'A revoked key cannot be made active again. Create a new one.')
    }
    checkTagSettings(changes)
    requireKnownModels(findUnknownModel, before, { asked: changes.allowedModels, held: before.allowedModels })
    const { isActive, ...fields } = changes
    const after = { ...before, ...fields, parentId: parentAfter(authority, before, changes) }
    if (Object.keys(fields).length > 0) {
      requireRights(authority, { ...after, environment: environmentHeld(authority) })
      requirePermissions(authority, heldPermissions(after))
    }
    const isRevoked = isActive === false && before.revokedAtMs === null
    const written = await writeKey(transaction, {
      ...after,
      revokedAtMs: isRevoked ? nowMs : before.revokedAtMs,
    })
    await updateHiddenKeys(transaction, written)
    if (isRevoked && before.isRoot) await passRootOn(transaction, before)
    await recordKeyChange(transaction, caller, written, { isRevoked, fields })
    return written
  })
}

async function recordKeyChange(
  transaction: Queryable,
  actor: Caller,
  { id, accountId, projectId }: KeyRecord,
  { isRevoked, fields }: { isRevoked: boolean; fields: Omit<KeyChanges, 'isActive'> },
): Promise<void> {
  const entry = { actor, accountId, projectId, resourceId: id }
  if (Object.keys(fields).length > 0) {
    const changes = {
      name: fields.name,
      scopes: fields.scopes,
      allowed_models: fields.allowedModels,
      limit_nano_usd: fields.limitNanoUsd?.toString() ?? fields.limitNanoUsd,
      requests_per_minute: fields.requestsPerMinute,
      expires_at_ms: fields.expiresAtMs,
      required_tags: fields.requiredTags,
      fixed_tags: fields.fixedTags,
    }
    const details = { changes_requested: changes }
    await recordChange(transaction, { ...entry, type: 'api_key.updated', details })
  }
  if (isRevoked) await recordChange(transaction, { ...entry, type: 'api_key.deleted' })
}

/** Revokes a key. A repeated call has no further effect, so clients may retry. */
export async function revokeKey(options: ChangeKeyOptions, request: KeyChangeRequest): Promise<KeyRecord> {
  return updateKey(options, request, { isActive: false })
}

/**
 * A restricted key may manage only itself and the keys it created, because other keys may have more rights than it could restore.
 */
export function requireManaged(authority: Authority, target: KeyRecord): void {
  if (authority.kind === 'operator') return
  const { key } = authority
  if (!isOwn(key, target)) requirePermissions(authority, ['keys.manage'])
  requireScopes(key.scopes, target.scopes)
  if (key.isRoot || !isRestricted(key) || target.id === key.id || target.parentId === key.id) return
  throw new AppError('forbidden', 'A restricted key can only manage itself and the keys it made.')
}

/** Whether both keys belong to the same person or service account, or the caller's key made the other. */
function isOwn(key: KeyRecord, target: KeyRecord): boolean {
  return (
    target.id === key.id ||
    target.parentId === key.id ||
    (key.userId !== null && key.userId === target.userId) ||
    (key.serviceAccountId !== null && key.serviceAccountId === target.serviceAccountId)
  )
}

/** A caller that may lift restrictions detaches a key from its parent's limits by setting the key's own limits. */
function parentAfter(authority: Authority, before: KeyRecord, changes: KeyChanges): string | null {
  const setsLimits = changes.limitNanoUsd !== undefined || changes.requestsPerMinute !== undefined
  return setsLimits && liftsRestrictions(authority) ? null : before.parentId
}

/** A change keeps the environment, so the environment needs no comparison. */
function environmentHeld(authority: Authority) {
  return authority.kind === 'operator' ? authority.environment : authority.key.environment
}

/** Makes another unrestricted key the root key, if the account has one. */
async function passRootOn(transaction: Queryable, { id, accountId }: KeyRecord): Promise<void> {
  await transaction.query('UPDATE api_keys SET is_root = false WHERE id = $1', [id])
  await transaction.query(
    `UPDATE api_keys SET is_root = true WHERE id = (
       SELECT id FROM api_keys
       WHERE account_id = $1 AND revoked_at IS NULL AND 'manage' = ANY (scopes) AND allowed_models IS NULL
         AND limit_nano_usd IS NULL AND requests_per_minute IS NULL AND expires_at IS NULL AND parent_id IS NULL
         AND project_id IS NULL AND user_id IS NULL
       ORDER BY id LIMIT 1)`,
    [accountId],
  )
}

async function writeKey(transaction: Queryable, key: KeyRecord): Promise<KeyRecord> {
  const [row] = await transaction.query<KeyRow>(
    `UPDATE api_keys SET name = $2, scopes = $3, allowed_models = $4, limit_nano_usd = $5, requests_per_minute = $6,
       expires_at = $7, revoked_at = $8, parent_id = $9, required_tags = $10, fixed_tags = $11
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
      key.parentId,
      key.requiredTags,
      key.fixedTags === null ? null : JSON.stringify(key.fixedTags),
    ],
  )
  if (row === undefined) throw new Error(`key ${key.id} vanished while it was locked`)
  return keyRecordFromRow(row)
}
