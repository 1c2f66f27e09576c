import { AppError } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import { isAssignedOwner } from './owner-roles.ts'

/**
 * Makes a change after which an account with people who own it still has one. Throws otherwise: people would lock themselves and everybody
 * else out.
 */
export async function keepOwner<Result>(
  transaction: Queryable,
  accountId: string,
  change: () => Promise<Result>,
): Promise<Result> {
  // Two owners who remove each other at once must not both succeed.
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended('owners ' || $1, 0))`, [accountId])
  const hadOwner = await hasOwner(transaction, accountId)
  const result = await change()
  if (!hadOwner || (await hasOwner(transaction, accountId))) return result
  throw new AppError(
    'conflict',
    'This would leave the account without a person who owns it. Make somebody else an owner first, or use a key of the account itself.',
  )
}

async function hasOwner(queryable: Queryable, accountId: string): Promise<boolean> {
  const owners = await queryable.query(
    `SELECT FROM account_members m JOIN users u ON u.id = m.user_id
     WHERE m.account_id = $1 AND u.status = 'active' AND m.suspended_at IS NULL AND (m.role = 'owner' OR ${isAssignedOwner('m')}) LIMIT 1`,
    [accountId],
  )
  return owners.length > 0
}
