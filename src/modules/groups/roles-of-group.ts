import type { Queryable } from '../../storage/database.ts'
import { rolesOfAssignment } from '../keys/keys.ts'

/** Returns every role that the members of a group have by it, in the account and in all projects. */
export async function rolesOfGroup(queryable: Queryable, groupId: string): Promise<string[]> {
  const rows = await queryable.query<{ role: string }>(
    `SELECT 'project:' || p.role AS role FROM project_groups p WHERE p.group_id = $1
     UNION SELECT ${rolesOfAssignment('a', 'r')} FROM role_assignments a LEFT JOIN roles r ON r.id = a.role_id
     WHERE a.group_id = $1`,
    [groupId],
  )
  return rows.map(({ role }) => role)
}
