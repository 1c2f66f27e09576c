import { createId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange } from '../audit/audit.ts'
import type { Browser, Sessions } from '../sessions/sessions.ts'
import { permissionsOfRoles } from '../keys/keys.ts'
import { giftsOf, INVITE_COLUMNS, type InvitedProject, type InviteRow } from './invite-record.ts'
import { findOrCreateUser, insertMember } from './insert-member.ts'
import type { PeopleOptions } from './people-options.ts'

/** A person who came in by a link. */
export interface Entered {
  readonly accountId: string
  readonly userId: string
  readonly session: Awaited<ReturnType<Sessions['startForPerson']>>
  /** The tools of the person were signed out, and every process has to hear of it. */
  readonly endsTools?: true
}

interface InviteAnswer {
  readonly codeHash: Buffer
  readonly name: string | null
  readonly browser: Browser
  readonly nowMs: number
}

/** Returns null if the code is unknown, used, replaced or expired. */
export async function acceptInvite(
  transaction: Queryable,
  { keys, sessions }: Pick<PeopleOptions, 'keys' | 'sessions'>,
  answer: InviteAnswer,
): Promise<Entered | null> {
  const at = new Date(answer.nowMs)
  // The lock makes a second request with the same code wait, and then find it used.
  const [invite] = await transaction.query<InviteRow>(
    `SELECT ${INVITE_COLUMNS} FROM invites
     WHERE code_hash = $1 AND accepted_at IS NULL AND expires_at > $2 FOR UPDATE`,
    [answer.codeHash, at],
  )
  if (invite === undefined || !(await isStillAllowed(transaction, keys, invite))) return null
  const { account_id: accountId } = invite
  const { name, nowMs } = answer
  const userId = await findOrCreateUser(transaction, invite.email, { id: createId(nowMs), name, nowMs })
  // Whoever holds the link must not get a session with what a member was given since.
  if (!(await insertMember(transaction, { accountId, userId, role: invite.role, name }))) return null
  const projectIds = await addToProjects(transaction, { accountId, userId, projects: invite.projects })
  await transaction.query('UPDATE invites SET accepted_at = $2, accepted_by = $3 WHERE id = $1', [
    invite.id,
    at,
    userId,
  ])
  const { environment } = invite
  const { browser } = answer
  const person = { accountId, userId, environment }
  const session = await sessions.startForPerson(transaction, { ...person, ...browser, method: 'invitation' })
  const actor = { accountId, keyId: session.keyId, session, origin: browser }
  const user = wireId('user', userId)
  await recordChange(transaction, {
    actor,
    type: 'invite.accepted',
    projectId: null,
    resourceId: wireId('invite', invite.id),
  })
  await recordChange(transaction, {
    actor,
    type: 'user.added',
    projectId: null,
    resourceId: user,
    details: { data: { role: invite.role } },
  })
  for (const id of projectIds)
    await recordChange(transaction, { actor, type: 'user.added', projectId: id, resourceId: user })
  return { accountId, userId, session }
}

interface OpenInvite {
  readonly account_id: string
  readonly account_name: string
  readonly email: string
  readonly name: null
  readonly expires_at: Date
  readonly user_id: null
}

/** Returns the invitation of a code without using it up. */
export async function findOpenInvite(
  queryable: Queryable,
  codeHash: Buffer,
  nowMs: number,
): Promise<OpenInvite | null> {
  const [row] = await queryable.query<OpenInvite>(
    `SELECT i.account_id, a.name AS account_name, i.email, NULL AS name, i.expires_at, NULL AS user_id
     FROM invites i JOIN accounts a ON a.id = i.account_id
     WHERE i.code_hash = $1 AND i.accepted_at IS NULL AND i.expires_at > $2`,
    [codeHash, new Date(nowMs)],
  )
  return row ?? null
}

/** Whether the person who invited still has what the invitation gives. */
export async function isStillAllowed(
  transaction: Queryable,
  keys: Pick<PeopleOptions['keys'], 'rolesOf'>,
  invite: InviteRow,
): Promise<boolean> {
  const { account_id: accountId, invited_by: userId } = invite
  if (userId === null) return true
  for (const { projectId, roles } of giftsOf(invite)) {
    const held = permissionsOfRoles(await keys.rolesOf(transaction, { accountId, projectId, userId }))
    for (const permission of permissionsOfRoles(roles)) if (!held.has(permission)) return false
  }
  return true
}

/** Projects that were archived since the invitation are left out. */
export async function addToProjects(
  transaction: Queryable,
  { accountId, userId, projects }: { accountId: string; userId: string; projects: readonly InvitedProject[] },
): Promise<string[]> {
  const added: string[] = []
  for (const { id, role } of projects) {
    const rows = await transaction.query<{ project_id: string }>(
      `INSERT INTO project_members (project_id, account_id, user_id, role)
       SELECT id, account_id, $3, $4 FROM projects WHERE id = $1 AND account_id = $2 AND archived_at IS NULL
       ON CONFLICT (project_id, user_id) DO UPDATE SET role = project_members.role RETURNING project_id`,
      [id, accountId, userId, role],
    )
    added.push(...rows.map((row) => row.project_id))
  }
  return added
}
