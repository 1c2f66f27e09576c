import { AppError } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import { addToProjects, isStillAllowed } from './accept-invite.ts'
import { INVITE_COLUMNS, type InviteRow } from './invite-record.ts'
import { findOrCreateUser, insertMember } from './insert-member.ts'
import type { PeopleOptions } from './people-options.ts'

interface InvitedPerson {
  readonly accountId: string
  readonly email: string
  readonly name: string | null
  /** Whoever the audit log names for it. */
  readonly actor: AccountChange['actor']
  readonly nowMs: number
}

/**
 * Accepts the invitation of a person whose e-mail address somebody else has proven. Returns null if there is none. The caller announces the
 * change of the account.
 */
export async function acceptInviteOfEmail(
  transaction: Queryable,
  { keys }: { keys: Pick<PeopleOptions['keys'], 'rolesOf'> },
  { accountId, email, name, actor, nowMs }: InvitedPerson,
): Promise<{ userId: string } | null> {
  const at = new Date(nowMs)
  const [invite] = await transaction.query<InviteRow>(
    `SELECT ${INVITE_COLUMNS} FROM invites WHERE account_id = $1 AND lower(email) = lower($2)
       AND accepted_at IS NULL AND expires_at > $3 ORDER BY id DESC LIMIT 1 FOR UPDATE`,
    [accountId, email, at],
  )
  if (invite === undefined || !(await isStillAllowed(transaction, keys, invite))) return null
  const userId = await findOrCreateUser(transaction, invite.email, { id: createId(nowMs), name, nowMs })
  if (!(await insertMember(transaction, { accountId, userId, role: invite.role, name })))
    throw new AppError('conflict', 'This person is already a member of the account.')
  const projectIds = await addToProjects(transaction, { accountId, userId, projects: invite.projects })
  await transaction.query('UPDATE invites SET accepted_at = $2, accepted_by = $3 WHERE id = $1', [
    invite.id,
    at,
    userId,
  ])
  const user = wireId('user', userId)
  const role = { data: { role: invite.role } }
  const invitation = wireId('invite', invite.id)
  const shared = { actor, accountId, projectId: null } as const
  await recordChange(transaction, { ...shared, type: 'invite.accepted', resourceId: invitation })
  await recordChange(transaction, { ...shared, type: 'user.added', resourceId: user, details: role })
  for (const projectId of projectIds)
    await recordChange(transaction, { ...shared, projectId, type: 'user.added', resourceId: user })
  return { userId }
}
