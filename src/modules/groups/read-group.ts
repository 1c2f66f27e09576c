import { AppError, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { GROUP_COLUMNS, groupFromRow, type Group, type GroupRow } from './group-record.ts'

/** Throws the same for a group of another account as for an unknown one. */
export async function readGroup(queryable: Queryable, accountId: string, groupId: string): Promise<Group> {
  const [row] = isUuid(groupId)
    ? await queryable.query<GroupRow>(
        `SELECT ${GROUP_COLUMNS} FROM groups WHERE id = $1 AND account_id = $2`,
        [groupId, accountId],
      )
    : []
  if (row === undefined) throw notFound('group')
  return groupFromRow(row)
}

/** Throws for what the next synchronisation would undo. */
export function requireUnmanaged({ isScimManaged }: Pick<Group, 'isScimManaged'>): void {
  if (!isScimManaged) return
  throw new AppError(
    'conflict',
    'A directory manages this group by SCIM. Change its name and its members there; roles and projects are given to it here.',
  )
}
