import { AppError, notFound } from '../../../kernel/app-error.ts'
import { createId, isUuid } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../../audit/audit.ts'
import { GROUPS_MAX } from '../../groups/groups.ts'
import { actorOf } from '../actor-of.ts'
import { filterToSql } from '../filter/filter-to-sql.ts'
import { parseFilter } from '../filter/parse-filter.ts'
import type { GroupPatch } from '../patch/patch-group.ts'
import { changedMeanwhile, notUnique } from '../scim-error.ts'
import type { ScimOptions } from '../scim-options.ts'
import type { ScimPage, ScimPageRequest } from '../scim-page.ts'
import type { Directory } from '../tokens/scim-tokens.ts'
import type { GroupAttributes } from './group-attributes.ts'
import {
  groupFromRow,
  SEARCHED_GROUP,
  SEARCHED_WITHIN_GROUP,
  selectGroup,
  type GroupRow,
  type ScimGroup,
} from './group-record.ts'
import { changeMembers, type ChangedMembers } from './change-members.ts'

/** Names a group for a change. */
interface GroupPlace {
  readonly directory: Directory
  readonly id: string
  /** What If-Match asks for. Null: any. */
  readonly version: number | null
}

interface Wanted {
  readonly withMembers: boolean
}

/** All functions throw `not_found` for a group that the directory does not manage, and for one of another account. */
export interface ScimGroups {
  /** Makes a group of the account, or takes over the one with this name. */
  create(directory: Directory, attributes: GroupAttributes): Promise<ScimGroup>
  read(accountId: string, id: string, wanted: Wanted): Promise<ScimGroup>
  list(accountId: string, page: ScimPageRequest, wanted: Wanted): Promise<ScimPage<ScimGroup>>
  /** Returns after every process has given and taken what the group has. */
  replace(place: GroupPlace, attributes: GroupAttributes, wanted: Wanted): Promise<ScimGroup>
  patch(place: GroupPlace, patch: GroupPatch, wanted: Wanted): Promise<ScimGroup>
  /** Deletes the group. Its members lose what they had by it. */
  delete(place: GroupPlace): Promise<void>
}

export function createScimGroups({ database, clock, keys }: ScimOptions): ScimGroups {
  const readGroup = async (
    queryable: Queryable,
    { accountId, id }: { accountId: string; id: string },
    { withMembers }: Wanted,
  ): Promise<ScimGroup> => {
    const [row] = isUuid(id)
      ? await queryable.query<GroupRow>(
          `${selectGroup(withMembers)} WHERE g.id = $1 AND g.account_id = $2 AND g.is_scim_managed`,
          [id, accountId],
        )
      : []
    if (row === undefined) throw notFound('group')
    return groupFromRow(row)
  }

  const change = async (
    { directory, id, version }: GroupPlace,
    patch: GroupPatch,
    wanted: Wanted,
  ): Promise<ScimGroup> => {
    const { accountId } = directory
    const people = await database.transaction(async (transaction) => {
      const before = await lockGroup(transaction, accountId, id)
      if (version !== null && version !== before.version) throw changedMeanwhile()
      const isNamed = await describeGroup(transaction, { directory, before, patch })
      const changed: ChangedMembers = { added: [], removed: [] }
      for (const step of patch.steps) {
        const { added, removed } = await changeMembers(transaction, { accountId, groupId: before.id, step })
        changed.added.push(...added)
        changed.removed.push(...removed)
      }
      const people = [...changed.added, ...changed.removed]
      if (!isNamed && people.length === 0) return []
      await transaction.query(
        'UPDATE groups SET scim_version = scim_version + 1, scim_updated_at = $2 WHERE id = $1',
        [before.id, new Date(clock.nowMs())],
      )
      await recordMembers(transaction, directory, before.id, changed)
      return people
    })
    if (people.length > 0) await keys.announcePeopleChange(accountId, people)
    return readGroup(database, { accountId, id }, wanted)
  }

  return {
    create: async (directory, { displayName, externalId, memberIds }) => {
      const { accountId } = directory
      const { id, people } = await database.transaction(async (transaction) => {
        await lockNames(transaction, accountId)
        const groupId = await takeOver(transaction, {
          directory,
          displayName,
          externalId,
          nowMs: clock.nowMs(),
        })
        const step = { kind: 'add', ids: memberIds } as const
        const changed = await changeMembers(transaction, { accountId, groupId, step })
        await recordMembers(transaction, directory, groupId, changed)
        return { id: groupId, people: changed.added }
      })
      if (people.length > 0) await keys.announcePeopleChange(accountId, people)
      return readGroup(database, { accountId, id }, { withMembers: true })
    },
    read: (accountId, id, wanted) => readGroup(database, { accountId, id }, wanted),
    list: async (accountId, { startIndex, count, filter }, { withMembers }) => {
      const values: unknown[] = [accountId]
      const condition =
        filter === null
          ? 'true'
          : filterToSql(parseFilter(filter), SEARCHED_GROUP, values, SEARCHED_WITHIN_GROUP)
      const found = `WHERE g.account_id = $1 AND g.is_scim_managed AND ${condition}`
      const rows =
        count === 0
          ? []
          : await database.query<GroupRow>(
              `${selectGroup(withMembers)} ${found} ORDER BY g.id LIMIT $${values.length + 1} OFFSET $${values.length + 2}`,
              [...values, count, startIndex - 1],
            )
      const [counted] = await database.query<{ total: bigint }>(
        `SELECT count(*) AS total FROM groups g ${found}`,
        values,
      )
      return { items: rows.map(groupFromRow), total: Number(counted?.total ?? 0), startIndex }
    },
    replace: (place, { displayName, externalId, memberIds }, wanted) =>
      change(place, { displayName, externalId, steps: [{ kind: 'only', ids: memberIds }] }, wanted),
    patch: change,
    delete: async ({ directory, id, version }) => {
      const { accountId } = directory
      const people = await database.transaction(async (transaction) => {
        const before = await lockGroup(transaction, accountId, id)
        if (version !== null && version !== before.version) throw changedMeanwhile()
        const members = await transaction.query<{ user_id: string }>(
          'SELECT user_id FROM group_members WHERE group_id = $1',
          [before.id],
        )
        await transaction.query('DELETE FROM groups WHERE id = $1', [before.id])
        await record(transaction, directory, 'group.deleted', before.id)
        return members.map(({ user_id: userId }) => userId)
      })
      if (people.length > 0) await keys.announcePeopleChange(accountId, people)
    },
  }
}

interface LockedGroup {
  readonly id: string
  readonly name: string
  readonly externalId: string | null
  readonly version: number
}

/** Changes of one group are done one after the other. */
async function lockGroup(transaction: Queryable, accountId: string, id: string): Promise<LockedGroup> {
  const [row] = isUuid(id)
    ? await transaction.query<{
        id: string
        name: string
        scim_external_id: string | null
        scim_version: number
      }>(
        `SELECT id, name, scim_external_id, scim_version FROM groups
         WHERE id = $1 AND account_id = $2 AND is_scim_managed FOR UPDATE`,
        [id, accountId],
      )
    : []
  if (row === undefined) throw notFound('group')
  return { id: row.id, name: row.name, externalId: row.scim_external_id, version: row.scim_version }
}

/** The same lock as that of groups which people make. */
async function lockNames(transaction: Queryable, accountId: string): Promise<void> {
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended('groups ' || $1, 0))`, [accountId])
}

interface TakenOver {
  readonly directory: Directory
  readonly displayName: string
  readonly externalId: string | null
  readonly nowMs: number
}

/** Returns the id of the new group, or of the one that people made with this name: it may have roles and projects already. */
async function takeOver(
  transaction: Queryable,
  { directory, displayName, externalId, nowMs }: TakenOver,
): Promise<string> {
  const { accountId } = directory
  const [known] = await transaction.query<{ id: string; is_scim_managed: boolean }>(
    'SELECT id, is_scim_managed FROM groups WHERE account_id = $1 AND lower(name) = lower($2) FOR UPDATE',
    [accountId, displayName],
  )
  if (known?.is_scim_managed === true) throw notUnique('Another group of the directory has this displayName.')
  if (known !== undefined) {
    await transaction.query(
      `UPDATE groups SET is_scim_managed = true, name = $2, scim_external_id = $3, scim_updated_at = $4 WHERE id = $1`,
      [known.id, displayName, externalId, new Date(nowMs)],
    )
    await record(transaction, directory, 'group.updated', known.id, {
      changes_requested: { is_scim_managed: true },
    })
    return known.id
  }
  const [made] = await transaction.query<{ id: string }>(
    `INSERT INTO groups (id, account_id, name, created_at, is_scim_managed, scim_external_id, scim_updated_at)
     SELECT $1, $2::uuid, $3, $4, true, $5, $4 WHERE (SELECT count(*) FROM groups WHERE account_id = $2) < $6 RETURNING id`,
    [createId(nowMs), accountId, displayName, new Date(nowMs), externalId, GROUPS_MAX],
  )
  if (made === undefined) throw new AppError('conflict', `An account has at most ${GROUPS_MAX} groups.`)
  await record(transaction, directory, 'group.created', made.id, { data: { group_name: displayName } })
  return made.id
}

/** Returns whether the name or the id in the directory has changed. */
async function describeGroup(
  transaction: Queryable,
  { directory, before, patch }: { directory: Directory; before: LockedGroup; patch: GroupPatch },
): Promise<boolean> {
  const { displayName = before.name, externalId = before.externalId } = patch
  if (displayName === before.name && externalId === before.externalId) return false
  if (displayName !== before.name) {
    await lockNames(transaction, directory.accountId)
    const others = await transaction.query(
      'SELECT FROM groups WHERE account_id = $1 AND lower(name) = lower($2) AND id <> $3',
      [directory.accountId, displayName, before.id],
    )
    if (others.length > 0) throw notUnique('Another group of the account has this displayName.')
    await record(transaction, directory, 'group.updated', before.id, {
      changes_requested: { group_name: displayName },
    })
  }
  await transaction.query('UPDATE groups SET name = $2, scim_external_id = $3 WHERE id = $1', [
    before.id,
    displayName,
    externalId,
  ])
  return true
}

/** A change of more people is one entry, so that a large group does not fill the log. */
const RECORDED_PEOPLE_MAX = 50

async function recordMembers(
  transaction: Queryable,
  directory: Directory,
  groupId: string,
  { added, removed }: ChangedMembers,
): Promise<void> {
  if (added.length + removed.length > RECORDED_PEOPLE_MAX) {
    const counts = { users_added: added.length, users_removed: removed.length }
    await record(transaction, directory, 'group.updated', groupId, { changes_requested: counts })
    return
  }
  for (const id of added)
    await record(transaction, directory, 'group.user.added', groupId, {
      data: { user_id: wireId('user', id) },
    })
  for (const id of removed)
    await record(transaction, directory, 'group.user.removed', groupId, {
      data: { user_id: wireId('user', id) },
    })
}

function record(
  transaction: Queryable,
  directory: Directory,
  type: AccountChange['type'],
  groupId: string,
  details: NonNullable<AccountChange['details']> = {},
): Promise<void> {
  return recordChange(transaction, {
    actor: actorOf(directory),
    type,
    projectId: null,
    resourceId: wireId('group', groupId),
    details,
  })
}
