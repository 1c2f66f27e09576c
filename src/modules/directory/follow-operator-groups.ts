import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange } from '../audit/audit.ts'
import { actorOf, type EnteredAccount } from './enter-account.ts'
import type { SealedProvider } from './identity-provider.ts'

/**
 * Makes a person an operator whom a group of the directory makes one, in the account of the operator who added the provider, and takes that
 * away from whoever is in none of these groups any more. Whom another operator named stays as they are. Returns whether something changed.
 */
export async function followOperatorGroups(
  transaction: Queryable,
  provider: SealedProvider,
  { accountId, userId }: EnteredAccount,
  groups: readonly string[],
): Promise<boolean> {
  if (provider.accountId !== accountId) return false
  const isIn = (names: readonly string[]): boolean => names.some((name) => groups.includes(name))
  const role = isIn(provider.operatorGroups)
    ? 'operator'
    : isIn(provider.operatorReaderGroups)
      ? 'operator-reader'
      : null
  const changed =
    role === null
      ? await transaction.query(
          `DELETE FROM operators WHERE account_id = $1 AND user_id = $2 AND source = 'sign-in' RETURNING user_id`,
          [accountId, userId],
        )
      : await transaction.query(
          `INSERT INTO operators (account_id, user_id, role, source) VALUES ($1, $2, $3, 'sign-in')
           ON CONFLICT (account_id, user_id) DO UPDATE SET role = excluded.role
             WHERE operators.source = 'sign-in' AND operators.role <> excluded.role RETURNING user_id`,
          [accountId, userId, role],
        )
  if (changed.length === 0) return false
  await recordChange(transaction, {
    actor: actorOf(provider, accountId),
    accountId,
    type: 'user.updated',
    projectId: null,
    resourceId: wireId('user', userId),
    details: { changes_requested: { operator_role: role } },
  })
  return true
}
