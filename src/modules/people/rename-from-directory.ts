import { AppError } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'

interface RenamedPerson {
  readonly accountId: string
  readonly userId: string
  readonly email: string
  readonly actor: AccountChange['actor']
  readonly nowMs: number
}

/**
 * Gives a member of the account another address, because its directory says so. Keys, sessions and history stay with the person. The address
 * stays as it is where it is not the account's alone to change: for a person who is a member of another account or operates the gateway, and for
 * an address that somebody of the gateway has. The answer does not tell, so that a directory does not learn of people elsewhere.
 */
export async function renameFromDirectory(
  transaction: Queryable,
  { accountId, userId, email, actor, nowMs }: RenamedPerson,
): Promise<void> {
  const [other] = await transaction.query(
    `SELECT FROM users u JOIN account_members m ON m.user_id = u.id
     WHERE lower(u.email) = lower($1) AND u.id <> $2 AND m.account_id = $3`,
    [email, userId, accountId],
  )
  if (other !== undefined)
    throw new AppError('conflict', 'Another member of the account has this address.', {
      details: { scimType: 'uniqueness' },
    })
  // No other account can make the person a member before the end of the transaction.
  await transaction.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [userId])
  const renamed = await transaction.query(
    `UPDATE users SET email = $2, updated_at = $4 WHERE id = $1 AND status = 'active'
       AND NOT EXISTS (SELECT FROM account_members m WHERE m.user_id = $1 AND m.account_id <> $3)
       AND NOT EXISTS (SELECT FROM operators p WHERE p.user_id = $1)
       AND NOT EXISTS (SELECT FROM users o WHERE lower(o.email) = lower($2) AND o.id <> $1) RETURNING id`,
    [userId, email, accountId, new Date(nowMs)],
  )
  if (renamed.length === 0) return
  await recordChange(transaction, {
    actor,
    accountId,
    type: 'user.updated',
    projectId: null,
    resourceId: wireId('user', userId),
    details: { changes_requested: { email } },
  })
}
