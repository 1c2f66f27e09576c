import type { Queryable } from '../../storage/database.ts'
import { permissionsOfRoles, type Keys } from '../keys/keys.ts'
import { insertSession, type SignIn, type StartedSession } from './insert-session.ts'

export interface PersonSignIn extends SignIn {
  readonly accountId: string
  readonly userId: string
  /** Of the hidden key, if the person has none yet. */
  readonly environment: string
}

/**
 * Starts a session of a member in the account. Whoever may not look at the account begins in the first project that they are in. The caller
 * has checked who the person is; a person who is deactivated or no member gets a session that every request refuses.
 */
export async function startForPerson(
  transaction: Queryable,
  keys: Pick<Keys, 'rolesOf' | 'ensureSessionKey'>,
  { accountId, userId, environment, ...signIn }: PersonSignIn,
): Promise<StartedSession> {
  const roles = await keys.rolesOf(transaction, { accountId, projectId: null, userId })
  const permissions = permissionsOfRoles(roles)
  // Operators operate only with a key of the account.
  const seesAccount = permissions.has('organization.read') || permissions.has('gateway.read')
  const projectId = seesAccount ? null : await findFirstProject(transaction, accountId, userId)
  const keyId = await keys.ensureSessionKey(transaction, { accountId, userId, projectId, environment })
  return insertSession(transaction, { accountId, projectId, keyId }, signIn)
}

/** Returns the oldest project that the person is in, directly or by a group. */
async function findFirstProject(
  queryable: Queryable,
  accountId: string,
  userId: string,
): Promise<string | null> {
  const [project] = await queryable.query<{ id: string }>(
    `SELECT p.id FROM projects p WHERE p.account_id = $1 AND p.archived_at IS NULL AND (
       EXISTS (SELECT FROM project_members m WHERE m.project_id = p.id AND m.user_id = $2)
       OR EXISTS (SELECT FROM project_groups g JOIN group_members h ON h.group_id = g.group_id AND h.user_id = $2
         WHERE g.project_id = p.id))
     ORDER BY p.created_at, p.id LIMIT 1`,
    [accountId, userId],
  )
  return project?.id ?? null
}
