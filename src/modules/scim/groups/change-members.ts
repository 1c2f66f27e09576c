import { AppError } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import { GROUPS_OF_PERSON_MAX } from '../../groups/groups.ts'
import type { MemberStep } from '../patch/patch-group.ts'
import { scimError } from '../scim-error.ts'

/** The ids that people have in the account. */
export interface ChangedMembers {
  readonly added: string[]
  readonly removed: string[]
}

interface ChangedGroup {
  readonly accountId: string
  readonly groupId: string
  readonly step: MemberStep
}

/** Does what the directory says of the members. Whoever somebody of the account put into the group stays in it. */
export async function changeMembers(
  transaction: Queryable,
  { accountId, groupId, step: { kind, ids } }: ChangedGroup,
): Promise<ChangedMembers> {
  const removed =
    kind === 'add'
      ? []
      : await removeMembers(transaction, { accountId, groupId, ids, isOnly: kind === 'only' })
  const added = kind === 'remove' ? [] : await addMembers(transaction, { accountId, groupId, ids })
  return { added, removed }
}

interface NamedMembers {
  readonly accountId: string
  readonly groupId: string
  /** In SCIM. */
  readonly ids: readonly string[]
}

/** People who are not in it, or not known, are no error: a directory removes them again after a failure. */
async function removeMembers(
  transaction: Queryable,
  { accountId, groupId, ids, isOnly }: NamedMembers & { isOnly: boolean },
): Promise<string[]> {
  const rows = await transaction.query<{ user_id: string }>(
    `DELETE FROM group_members h WHERE h.group_id = $1 AND h.source = 'scim' AND ${isOnly ? 'NOT' : ''} EXISTS (
       SELECT FROM scim_users u WHERE u.account_id = $2 AND u.user_id = h.user_id AND u.id = ANY ($3::uuid[])) RETURNING h.user_id`,
    [groupId, accountId, ids],
  )
  return rows.map(({ user_id: userId }) => userId)
}

async function addMembers(
  transaction: Queryable,
  { accountId, groupId, ids }: NamedMembers,
): Promise<string[]> {
  if (ids.length === 0) return []
  // The locks keep people from leaving meanwhile, and make the limit of groups hold; in one order, so that two groups do not wait for each other.
  const people = await transaction.query<{ user_id: string }>(
    `SELECT m.user_id FROM scim_users u JOIN account_members m ON m.account_id = u.account_id AND m.user_id = u.user_id
     WHERE u.account_id = $1 AND u.id = ANY ($2::uuid[]) ORDER BY m.user_id FOR NO KEY UPDATE OF m`,
    [accountId, ids],
  )
  if (people.length < ids.length)
    throw scimError('invalidValue', 'A member is not a person of this directory. Create the person first.')
  const userIds = people.map(({ user_id: userId }) => userId)
  const rows = await transaction.query<{ user_id: string; is_new: boolean }>(
    `INSERT INTO group_members (group_id, account_id, user_id, source)
     SELECT $1, $2, unnest($3::uuid[]), 'scim'
     ON CONFLICT (group_id, user_id) DO UPDATE SET source = 'scim' WHERE group_members.source <> 'scim'
     RETURNING user_id, xmax = 0 AS is_new`,
    [groupId, accountId, userIds],
  )
  const added = rows.filter(({ is_new: isNew }) => isNew).map(({ user_id: userId }) => userId)
  const [crowded] = await transaction.query(
    `SELECT FROM group_members WHERE account_id = $1 AND user_id = ANY ($2::uuid[]) GROUP BY user_id HAVING count(*) > $3 LIMIT 1`,
    [accountId, added, GROUPS_OF_PERSON_MAX],
  )
  if (crowded !== undefined)
    throw new AppError('conflict', `A person is in at most ${GROUPS_OF_PERSON_MAX} groups.`)
  return added
}
