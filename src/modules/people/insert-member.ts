import { AppError } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'

const MEMBERS_MAX = 50_000

interface NewUser {
  readonly id: string
  readonly name: string | null
  readonly nowMs: number
  /** Do not tell that the operator deactivated the person, whose keys and sessions are refused all the same. */
  readonly isSilent?: boolean
}

/** Returns the id. An existing person stays as they are: whoever asks may be somebody else. Throws if the operator deactivated the person. */
export async function findOrCreateUser(
  transaction: Queryable,
  email: string,
  { id, name, nowMs, isSilent = false }: NewUser,
): Promise<string> {
  const [user] = await transaction.query<{ id: string; status: string }>(
    `INSERT INTO users (id, email, name, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)
     ON CONFLICT (lower(email)) DO UPDATE SET updated_at = users.updated_at RETURNING id, status`,
    [id, email, name, new Date(nowMs)],
  )
  if (user === undefined) throw new Error('a user was neither found nor created')
  if (user.status !== 'active' && !isSilent)
    throw new AppError('forbidden', 'This person is deactivated. Ask the operator of the gateway.')
  return user.id
}

interface NewMember {
  readonly accountId: string
  readonly userId: string
  readonly role: string
  readonly name: string | null
}

/** Returns false for a person who is a member already. */
export async function insertMember(transaction: Queryable, member: NewMember): Promise<boolean> {
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
