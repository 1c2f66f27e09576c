import { AppError, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { openPage, orderedPage, type OpenPage, type OrderedPageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import type { GroupOptions } from './group-options.ts'
import { GROUPS_OF_PERSON_MAX } from './group-limits.ts'
import { readGroup, requireUnmanaged } from './read-group.ts'
import { rolesOfGroup } from './roles-of-group.ts'

/** A person in a group. */
export interface GroupMember {
  /** Of the person. */
  readonly id: string
  readonly email: string
  readonly name: string | null
  /** Whether a directory put the person into the group, by SCIM: only the directory takes them out. */
  readonly isScimManaged: boolean
}

interface GroupPlace {
  readonly caller: Caller
  readonly groupId: string
}

/** All functions throw `not_found` for a group of another account, and for a person who is not in it. */
export interface GroupMembers {
  list(accountId: string, groupId: string, page: OrderedPageRequest): Promise<OpenPage<GroupMember>>
  read(accountId: string, groupId: string, userId: string): Promise<GroupMember>
  /** Adds a member of the account. Returns after every process has given the person what the group has. */
  add(place: GroupPlace, userId: string): Promise<void>
  /** Returns after every process has taken from the person what they had by the group. */
  remove(place: GroupPlace, userId: string): Promise<void>
}

export function createGroupMembers({ database, keys }: GroupOptions): GroupMembers {
  return {
    list: async (accountId, groupId, page) => {
      const { id } = await readGroup(database, accountId, groupId)
      const { isBehind, inOrder, after } = orderedPage('h.user_id', '$2', page)
      const rows = await database.query<GroupMember>(
        `${SELECT_MEMBER} WHERE h.group_id = $1 AND ${isBehind} ${inOrder} LIMIT $3`,
        [id, after, page.limit + 1],
      )
      return openPage(rows, page.limit)
    },
    read: async (accountId, groupId, userId) => {
      const { id } = await readGroup(database, accountId, groupId)
      return readMember(database, id, userId)
    },
    add: async (place, userId) => {
      const { caller, groupId } = place
      const { accountId } = caller
      await database.transaction(async (transaction) => {
        const { id, isScimManaged } = await readGroup(transaction, accountId, groupId)
        requireUnmanaged({ isScimManaged })
        await lockAccountMember(transaction, accountId, userId)
        const roles = await rolesOfGroup(transaction, id)
        await keys.requireMayGive(transaction, caller, { projectId: null, roles })
        const [row] = await transaction.query<{ groups: bigint; is_member: boolean | null }>(
          `SELECT count(*) AS groups, bool_or(group_id = $3) AS is_member
           FROM group_members WHERE account_id = $1 AND user_id = $2`,
          [accountId, userId, id],
        )
        if (row?.is_member === true)
          throw new AppError('conflict', 'This person is already in the group.', { param: 'user_id' })
        if (Number(row?.groups ?? 0) >= GROUPS_OF_PERSON_MAX)
          throw new AppError('conflict', `A person is in at most ${GROUPS_OF_PERSON_MAX} groups.`)
        await transaction.query(
          'INSERT INTO group_members (group_id, account_id, user_id) VALUES ($1, $2, $3)',
          [id, accountId, userId],
        )
        await record(transaction, place, 'group.user.added', userId)
      })
      await keys.announceAccountChange(accountId)
    },
    remove: async (place, userId) => {
      const { caller, groupId } = place
      const { accountId } = caller
      const { id } = await readGroup(database, accountId, groupId)
      await database.transaction(async (transaction) => {
        const member = await readMember(transaction, id, userId)
        await requireNotOfDirectory(transaction, id, member.id)
        const roles = await rolesOfGroup(transaction, id)
        await keys.requireMayGive(transaction, caller, { projectId: null, roles })
        await keys.keepOwner(transaction, caller, () =>
          transaction.query('DELETE FROM group_members WHERE group_id = $1 AND user_id = $2', [
            id,
            member.id,
          ]),
        )
        await record(transaction, place, 'group.user.removed', member.id)
      })
      await keys.announceAccountChange(accountId)
    },
  }
}

function record(
  transaction: Queryable,
  { caller: actor, groupId }: GroupPlace,
  type: 'group.user.added' | 'group.user.removed',
  userId: string,
): Promise<void> {
  return recordChange(transaction, {
    actor,
    type,
    projectId: null,
    resourceId: wireId('group', groupId),
    details: { data: { user_id: wireId('user', userId) } },
  })
}

const SELECT_MEMBER = `
  SELECT u.id, u.email, m.name, h.source = 'scim' AS "isScimManaged" FROM group_members h
  JOIN users u ON u.id = h.user_id JOIN account_members m ON m.account_id = h.account_id AND m.user_id = h.user_id`

async function readMember(queryable: Queryable, groupId: string, userId: string): Promise<GroupMember> {
  const [row] = isUuid(userId)
    ? await queryable.query<GroupMember>(`${SELECT_MEMBER} WHERE h.group_id = $1 AND h.user_id = $2`, [
        groupId,
        userId,
      ])
    : []
  if (row === undefined) throw notFound('user')
  return row
}

/** Whom the directory put into the group, only the directory takes out. */
async function requireNotOfDirectory(transaction: Queryable, groupId: string, userId: string): Promise<void> {
  const [row] = await transaction.query<{ is_of_directory: boolean }>(
    `SELECT source = 'scim' AS is_of_directory FROM group_members WHERE group_id = $1 AND user_id = $2`,
    [groupId, userId],
  )
  requireUnmanaged({ isScimManaged: row?.is_of_directory === true })
}

/** Throws for a person who is not in the account. The lock makes the limit hold for concurrent additions. */
async function lockAccountMember(transaction: Queryable, accountId: string, userId: string): Promise<void> {
  const rows = isUuid(userId)
    ? await transaction.query(
        'SELECT FROM account_members WHERE account_id = $1 AND user_id = $2 FOR UPDATE',
        [accountId, userId],
      )
    : []
  if (rows.length === 0) throw notFound('user')
}
