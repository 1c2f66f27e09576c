import { notFound } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import { findOrCreateUser, insertMember } from './insert-member.ts'

interface PersonInDirectory {
  readonly accountId: string
  readonly email: string
  readonly name: string | null
  /** What a new member becomes. */
  readonly role: string
  /** Whoever the audit log names for it. */
  readonly actor: AccountChange['actor']
  readonly nowMs: number
  /** Do not tell that the operator deactivated the person: the account must not learn of people elsewhere. */
  readonly isSilent?: boolean
}

/**
 * Makes a person a member of an account because its directory says so. A member stays as they are. The caller has checked that the directory
 * may speak for the address, and announces the change of the account.
 */
export async function enterFromDirectory(
  transaction: Queryable,
  { accountId, email, name, role, actor, nowMs, isSilent = false }: PersonInDirectory,
): Promise<{ userId: string; isNew: boolean }> {
  const userId = await findOrCreateUser(transaction, email, { id: createId(nowMs), name, nowMs, isSilent })
  const isNew = await insertMember(transaction, { accountId, userId, role, name })
  if (isNew) {
    await recordChange(transaction, {
      actor,
      accountId,
      type: 'user.added',
      projectId: null,
      resourceId: wireId('user', userId),
      details: { data: { role } },
    })
  }
  return { userId, isNew }
}

interface SwitchedPerson {
  readonly accountId: string
  readonly userId: string
  readonly isSuspended: boolean
  readonly actor: AccountChange['actor']
  readonly nowMs: number
}

/**
 * Switches a person of the account off or on, as its directory says. Their keys and sessions in this account are refused while they are off;
 * sessions do not come back. Other accounts are not touched. Returns whether something changed; the caller then announces the change of the account.
 */
export async function switchFromDirectory(
  transaction: Queryable,
  { accountId, userId, isSuspended, actor, nowMs }: SwitchedPerson,
): Promise<boolean> {
  const [member] = await transaction.query<{ suspended_at: Date | null }>(
    'SELECT suspended_at FROM account_members WHERE account_id = $1 AND user_id = $2 FOR UPDATE',
    [accountId, userId],
  )
  if (member === undefined) throw notFound('user')
  if ((member.suspended_at !== null) === isSuspended) return false
  await transaction.query(
    'UPDATE account_members SET suspended_at = $3 WHERE account_id = $1 AND user_id = $2',
    [accountId, userId, isSuspended ? new Date(nowMs) : null],
  )
  if (isSuspended) {
    await transaction.query(
      `DELETE FROM sessions WHERE account_id = $1 AND key_id IN (SELECT id FROM api_keys WHERE account_id = $1 AND user_id = $2)`,
      [accountId, userId],
    )
  } else {
    // Signed-in tools do not come back. Until now they were told why they are refused.
    await transaction.query('DELETE FROM grants WHERE account_id = $1 AND user_id = $2', [accountId, userId])
  }
  await recordChange(transaction, {
    actor,
    accountId,
    type: 'user.updated',
    projectId: null,
    resourceId: wireId('user', userId),
    details: { changes_requested: { status: isSuspended ? 'suspended' : 'active' } },
  })
  return true
}
