import { AppError, notFound } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import { openPage, orderedPage, type OpenPage, type OrderedPageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import { createGroupMembers, type GroupMembers } from './group-members.ts'
import { GROUP_COLUMNS, groupFromRow, type Group, type GroupRow } from './group-record.ts'
import { GROUPS_MAX } from './group-limits.ts'
import type { GroupOptions } from './group-options.ts'
import { createProjectGroups, type ProjectGroups } from './project-groups.ts'
import { readGroup, requireUnmanaged } from './read-group.ts'
import { rolesOfGroup } from './roles-of-group.ts'

export { followDirectoryGroups } from './directory-groups.ts'
export { GROUPS_MAX, GROUPS_OF_PERSON_MAX } from './group-limits.ts'
export type { GroupMember } from './group-members.ts'
export type { Group } from './group-record.ts'
export type { ProjectGroup } from './project-groups.ts'

/** Groups of people in an account. All functions throw `not_found` for a group of another account. */
export interface Groups {
  create(caller: Caller, name: string, directoryName?: string | null): Promise<Group>
  read(accountId: string, groupId: string): Promise<Group>
  list(accountId: string, page: OrderedPageRequest): Promise<OpenPage<Group>>
  /** Changes its names. Without the second, what the directory calls it stays. */
  rename(caller: Caller, groupId: string, name: string, directoryName?: string | null): Promise<Group>
  /** Returns after every process has taken from its members what they had by the group. */
  delete(caller: Caller, groupId: string): Promise<void>
  readonly members: GroupMembers
  readonly projects: ProjectGroups
}

export function createGroups(options: GroupOptions): Groups {
  const { database, clock, keys } = options
  return {
    create: (caller, name, directoryName = null) =>
      database.transaction(async (transaction) => {
        const { accountId } = caller
        await lockNames(transaction, accountId)
        await requireFreeName(transaction, { accountId, groupId: null, name })
        await requireFreeDirectoryName(transaction, { accountId, groupId: null, directoryName })
        const nowMs = clock.nowMs()
        const [row] = await transaction.query<GroupRow>(
          `INSERT INTO groups (id, account_id, name, created_at, directory_name)
           SELECT $1, $2::uuid, $3, $4, $6 WHERE (SELECT count(*) FROM groups WHERE account_id = $2) < $5
           RETURNING ${GROUP_COLUMNS}`,
          [createId(nowMs), accountId, name, new Date(nowMs), GROUPS_MAX, directoryName],
        )
        if (row === undefined) throw new AppError('conflict', `An account has at most ${GROUPS_MAX} groups.`)
        const data = { group_name: name, ...(directoryName !== null && { directory_name: directoryName }) }
        await record(transaction, caller, 'group.created', row.id, { data })
        return groupFromRow(row)
      }),
    read: (accountId, groupId) => readGroup(database, accountId, groupId),
    list: async (accountId, page) => {
      const { isBehind, inOrder, after } = orderedPage('id', '$2', page)
      const rows = await database.query<GroupRow>(
        `SELECT ${GROUP_COLUMNS} FROM groups WHERE account_id = $1 AND ${isBehind} ${inOrder} LIMIT $3`,
        [accountId, after, page.limit + 1],
      )
      return openPage(rows.map(groupFromRow), page.limit)
    },
    rename: (caller, groupId, name, directoryName) =>
      database.transaction(async (transaction) => {
        const { accountId } = caller
        await lockNames(transaction, accountId)
        const before = await readGroup(transaction, accountId, groupId)
        const { id } = before
        requireUnmanaged(before)
        await requireFreeName(transaction, { accountId, groupId: id, name })
        const directory = directoryName === undefined ? before.directoryName : directoryName
        if (directory !== before.directoryName) {
          // Whoever has that name in the directory gets what the group has.
          const roles = await rolesOfGroup(transaction, id)
          await keys.requireMayGive(transaction, caller, { projectId: null, roles })
          await requireFreeDirectoryName(transaction, { accountId, groupId: id, directoryName: directory })
        }
        const [row] = await transaction.query<GroupRow>(
          `UPDATE groups SET name = $2, directory_name = $3 WHERE id = $1 RETURNING ${GROUP_COLUMNS}`,
          [id, name, directory],
        )
        if (row === undefined) throw notFound('group')
        const changes = {
          group_name: name,
          ...(directoryName !== undefined && { directory_name: directoryName }),
        }
        await record(transaction, caller, 'group.updated', id, { changes_requested: changes })
        return groupFromRow(row)
      }),
    delete: async (caller, groupId) => {
      const { accountId } = caller
      const { id } = await readGroup(database, accountId, groupId)
      await database.transaction(async (transaction) => {
        const roles = await rolesOfGroup(transaction, id)
        await keys.requireMayGive(transaction, caller, { projectId: null, roles })
        const rows = await keys.keepOwner(transaction, caller, () =>
          transaction.query('DELETE FROM groups WHERE id = $1 RETURNING id', [id]),
        )
        if (rows.length === 0) throw notFound('group')
        await record(transaction, caller, 'group.deleted', id)
      })
      await keys.announceAccountChange(accountId)
    },
    members: createGroupMembers(options),
    projects: createProjectGroups(options),
  }
}

function record(
  transaction: Queryable,
  actor: Caller,
  type: AccountChange['type'],
  groupId: string,
  details: AccountChange['details'] = {},
): Promise<void> {
  return recordChange(transaction, {
    actor,
    type,
    projectId: null,
    resourceId: wireId('group', groupId),
    details,
  })
}

/** Two groups at once must not get the same name, nor go beyond the limit. */
async function lockNames(transaction: Queryable, accountId: string): Promise<void> {
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended('groups ' || $1, 0))`, [accountId])
}

async function requireFreeName(
  transaction: Queryable,
  { accountId, groupId, name }: { accountId: string; groupId: string | null; name: string },
): Promise<void> {
  const others = await transaction.query(
    `SELECT FROM groups WHERE account_id = $1 AND lower(name) = lower($2) AND id IS DISTINCT FROM $3::uuid`,
    [accountId, name, groupId],
  )
  if (others.length > 0) throw new AppError('conflict', 'Another group has this name.', { param: 'name' })
}

async function requireFreeDirectoryName(
  transaction: Queryable,
  {
    accountId,
    groupId,
    directoryName,
  }: { accountId: string; groupId: string | null; directoryName: string | null },
): Promise<void> {
  if (directoryName === null) return
  const others = await transaction.query(
    'SELECT FROM groups WHERE account_id = $1 AND directory_name = $2 AND id IS DISTINCT FROM $3::uuid',
    [accountId, directoryName, groupId],
  )
  const message = 'Another group has this name in the directory.'
  if (others.length > 0) throw new AppError('conflict', message, { param: 'directory_name' })
}
