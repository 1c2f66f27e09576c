import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { recordChange } from '../../audit/audit.ts'
import type { Caller } from '../authenticate/caller.ts'
import { authorityIn, readAuthority } from '../authenticate/read-authority.ts'
import { lockSecret } from '../authenticate/secret-mark.ts'
import { createKeyToken, hashKey, shownPrefixOfKey } from '../key-form.ts'
import { isActive, KEY_COLUMNS, keyRecordFromRow, type KeyRecord, type KeyRow } from '../key-record.ts'
import { liftsRestrictions, requirePermissions, requireRights, type Authority } from '../key-rights.ts'
import { heldPermissions } from '../permissions/held-permissions.ts'
import { refuseAccessToken } from '../permissions/refuse-access-token.ts'
import { readKey } from '../read-keys.ts'
import { requireManaged, type KeyChangeRequest } from './change-key.ts'
import { hasBudget } from './has-budget.ts'
import type { IssuedKey } from './issue-key.ts'

export interface KeyRotation {
  readonly keyId: string
  /** How long the secret of before still works. */
  readonly overlapMs: number
  /** Whether a secret that is still left from an earlier rotation may end for this. */
  readonly endsFormer: boolean
}

/** A session must not end before the person has seen the new secret and kept it. */
const OWN_OVERLAP_MS_MIN = 5 * 60_000

/**
 * Gives a key a new secret. Everything else stays: its id, rights, limits, budgets and what it has spent, which both secrets share while
 * the former one works. A secret that is still left from an earlier rotation ends,
 * if the caller says so: a request that is repeated because its answer was lost must not end the secret in use.
 */
export async function rotateKey(
  database: Database,
  { caller, accountId, keyId, nowMs, overlapMs, endsFormer }: KeyChangeRequest & KeyRotation,
): Promise<IssuedKey> {
  refuseAccessToken(caller)
  return database.transaction(async (transaction) => {
    const projectId = caller.accountId === accountId ? caller.projectId : null
    const before = await readKey(transaction, accountId, keyId, { forUpdate: true, projectId })
    const authority = await authorityIn(
      transaction,
      await readAuthority(transaction, caller, nowMs),
      caller.accountId === accountId ? before.projectId : null,
    )
    requireManaged(authority, before)
    await requireMayHold(transaction, { caller, authority }, before)
    if (!isActive(before, nowMs))
      throw new AppError(
        'conflict',
        'A key that was revoked or has expired cannot be rotated. Create a new one.',
      )
    await requireCurrentSecret(transaction, caller, keyId)
    if (!endsFormer && before.former !== null && nowMs < before.former.endsAtMs)
      throw new AppError(
        'conflict',
        `The secret of before the last rotation, ${before.former.keyPrefix}, still works. Send end_former: true to end it now.`,
      )
    if (caller.session?.keyId === keyId && overlapMs < OWN_OVERLAP_MS_MIN)
      throw invalidValue(
        'overlap_seconds',
        `This session began with the key and would end at once: overlap_seconds must be at least ${OWN_OVERLAP_MS_MIN / 1000}.`,
      )
    // The former secret never outlives the key.
    const endsAtMs = Math.min(nowMs + overlapMs, before.expiresAtMs ?? Infinity)
    const token = createKeyToken(before.environment)
    const written = await writeSecret(transaction, before, { token, endsAtMs })
    await endSessions(transaction, before, endsAtMs)
    await recordChange(transaction, {
      actor: caller,
      accountId,
      type: 'api_key.updated',
      projectId: before.projectId,
      resourceId: before.id,
      details: { changes_requested: { rotated: true, former_ends_at_ms: endsAtMs } },
    })
    return { record: written, token }
  })
}

/** Whoever gets the secret has all rights of the key, and acts as its owner. */
async function requireMayHold(
  transaction: Queryable,
  { caller, authority }: { readonly caller: Caller; readonly authority: Authority },
  target: KeyRecord,
): Promise<void> {
  if (target.userId !== null && target.userId !== (caller.userId ?? null))
    throw new AppError('forbidden', 'Only the person whom a key belongs to can rotate it. You can revoke it.')
  if (authority.kind === 'operator' || authority.key.id === target.id) return
  const { key } = authority
  if (target.isRoot && !key.isRoot)
    throw new AppError('forbidden', 'Only the root key of the account can rotate itself.')
  requireRights(authority, target)
  requirePermissions(authority, heldPermissions(target))
  if (liftsRestrictions(authority) || target.parentId === key.id) return
  // A session in a project has a key of its own there, and the budget is that of the key that it began with.
  if (await hasBudget(transaction, key.accountId, caller.session?.keyId ?? key.id))
    throw new AppError('forbidden', 'A key with a budget can only rotate itself and the keys that it made.')
}

/** Whoever still has the former secret, of which the owner wants to be rid, must not get the next one. */
async function requireCurrentSecret(transaction: Queryable, caller: Caller, keyId: string): Promise<void> {
  if (caller.keyId !== keyId) return
  const secret = await lockSecret(transaction, caller)
  if (secret?.isCurrent !== true)
    throw new AppError('forbidden', 'Only the current secret of a key can rotate it.')
}

async function writeSecret(
  transaction: Queryable,
  { id }: KeyRecord,
  { token, endsAtMs }: { readonly token: string; readonly endsAtMs: number },
): Promise<KeyRecord> {
  const [row] = await transaction.query<KeyRow>(
    `UPDATE api_keys SET former_key_hash = key_hash, former_key_prefix = key_prefix, former_ends_at = $4, key_hash = $2, key_prefix = $3
     WHERE id = $1 RETURNING ${KEY_COLUMNS}`,
    [id, Buffer.from(hashKey(token), 'hex'), shownPrefixOfKey(token), new Date(endsAtMs)],
  )
  if (row === undefined) throw new Error(`key ${id} vanished while it was locked`)
  return keyRecordFromRow(row)
}

/** A session lasts no longer than the secret that it began with. */
async function endSessions(
  transaction: Queryable,
  { id, accountId }: KeyRecord,
  endsAtMs: number,
): Promise<void> {
  await transaction.query(
    `UPDATE sessions SET expires_at = $3 WHERE account_id = $1 AND key_id = $2 AND method = 'key' AND expires_at > $3`,
    [accountId, id, new Date(endsAtMs)],
  )
}
