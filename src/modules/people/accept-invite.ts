import { AppError } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange } from '../audit/audit.ts'
import type { Browser, Sessions } from '../sessions/sessions.ts'
import { permissionsOfRoles } from '../keys/keys.ts'
import { giftsOf, INVITE_COLUMNS, type InvitedProject, type InviteRow } from './invite-record.ts'
import type { PeopleOptions } from './people-options.ts'

export interface AcceptedInvite {
  readonly accountId: string
  readonly userId: string
  readonly session: Awaited<ReturnType<Sessions['startForPerson']>>
}

interface InviteAnswer {
  readonly codeHash: Buffer
  readonly name: string | null
  readonly browser: Browser
  readonly nowMs: number
}

const MEMBERS_MAX = 10_000

/** Returns null if the code is unknown, used, replaced or expired. */
export async function acceptInvite(
  transaction: Queryable,
  { keys, sessions }: Pick<PeopleOptions, 'keys' | 'sessions'>,
  answer: InviteAnswer,
): Promise<AcceptedInvite | null> {
  const at = new Date(answer.nowMs)
  // The lock makes a second request with the same code wait, and then find it used.
  const [invite] = await transaction.query<InviteRow>(
    `SELECT ${INVITE_COLUMNS} FROM invites
     WHERE code_hash = $1 AND accepted_at IS NULL AND expires_at > $2 FOR UPDATE`,
    [answer.codeHash, at],
  )
  if (invite === undefined || !(await isStillAllowed(transaction, keys, invite))) return null
  const { account_id: accountId } = invite
  const userId = await findOrCreateUser(transaction, invite.email, answer)
  const member = { accountId, userId, role: invite.role, name: answer.name }
  if (!(await addMember(transaction, member))) return null
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
  const actor = { accountId, keyId: session.keyId, session }
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

/** An existing person stays as they are: whoever holds the link may be somebody else. */
async function findOrCreateUser(
  transaction: Queryable,
  email: string,
  { name, nowMs }: InviteAnswer,
): Promise<string> {
  const [user] = await transaction.query<{ id: string; status: string }>(
    `INSERT INTO users (id, email, name, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)
     ON CONFLICT (lower(email)) DO UPDATE SET updated_at = users.updated_at RETURNING id, status`,
    [createId(nowMs), email, name, new Date(nowMs)],
  )
  if (user === undefined) throw new Error('a user was neither found nor created')
  if (user.status !== 'active')
    throw new AppError('forbidden', 'This person is deactivated. Ask the operator of the gateway.')
  return user.id
}

interface NewMember {
  readonly accountId: string
  readonly userId: string
  readonly role: string
  readonly name: string | null
}

/** Whether the person who invited still has what the invitation gives. */
async function isStillAllowed(
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

/**
 * Returns false for a person who is a member already: whoever holds the link must not get a session with what the person was given since.
 */
async function addMember(transaction: Queryable, member: NewMember): Promise<boolean> {
  const { accountId, userId, role, name } = member
  const [count] = await transaction.query<{ total: bigint }>(
    'SELECT count(*) AS total FROM account_members WHERE account_id = $1',
    [accountId],
  )
  if (Number(count?.total ?? 0) >= MEMBERS_MAX)
    throw new AppError('conflict', `An account has at most ${MEMBERS_MAX} members.`)
  const added = await transaction.query(
    `INSERT INTO account_members (account_id, user_id, role, name) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING RETURNING user_id`,
    [accountId, userId, role, name],
  )
  return added.length > 0
}

/** Projects that were archived since the invitation are left out. */
async function addToProjects(
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
