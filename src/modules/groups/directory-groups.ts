import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import { GROUPS_OF_PERSON_MAX } from './group-limits.ts'

/** What a directory says of one person. */
interface GroupsInDirectory {
  readonly accountId: string
  readonly userId: string
  /** The names that the groups have there. */
  readonly names: readonly string[]
  /** Whoever the audit log names for it. */
  readonly actor: AccountChange['actor']
}

/**
 * Puts a person into the groups whose names in the directory were told at the sign-in, and takes them out of those that an earlier sign-in
 * put them into. What somebody of the account or SCIM did is not touched, and groups that SCIM manages are entered by SCIM only. The caller announces the change of the account if the result is
 * true: something changed.
 */
export async function followDirectoryGroups(
  transaction: Queryable,
  { accountId, userId, names, actor }: GroupsInDirectory,
): Promise<boolean> {
  const left = await transaction.query<{ group_id: string }>(
    `DELETE FROM group_members h USING groups g WHERE g.id = h.group_id AND h.account_id = $1 AND h.user_id = $2
       AND h.source = 'sign-in' AND (g.directory_name IS NULL OR g.directory_name <> ALL ($3::text[])) RETURNING h.group_id`,
    [accountId, userId, names],
  )
  const entered = await transaction.query<{ group_id: string }>(
    `INSERT INTO group_members (group_id, account_id, user_id, source)
     SELECT g.id, g.account_id, $2, 'sign-in' FROM groups g WHERE g.account_id = $1 AND NOT g.is_scim_managed AND g.directory_name = ANY ($3::text[])
     ORDER BY g.id LIMIT greatest(0, $4 - (SELECT count(*) FROM group_members WHERE account_id = $1 AND user_id = $2))
     ON CONFLICT DO NOTHING RETURNING group_id`,
    [accountId, userId, names, GROUPS_OF_PERSON_MAX],
  )
  const record = (type: AccountChange['type'], groupId: string): Promise<void> =>
    recordChange(transaction, {
      actor,
      accountId,
      type,
      projectId: null,
      resourceId: wireId('group', groupId),
      details: { data: { user_id: wireId('user', userId) } },
    })
  for (const { group_id: id } of left) await record('group.user.removed', id)
  for (const { group_id: id } of entered) await record('group.user.added', id)
  return left.length + entered.length > 0
}
