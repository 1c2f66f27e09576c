import { AppError, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { openPage, orderedPage, type OpenPage, type OrderedPageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import type { GroupOptions } from './group-options.ts'
import { readGroup } from './read-group.ts'

/** A group with a role in a project, which its members have there. */
export interface ProjectGroup {
  /** Of the group. */
  readonly id: string
  readonly projectId: string
  readonly name: string
  readonly role: string
  readonly addedAtMs: number
}

interface ProjectPlace {
  readonly caller: Caller
  readonly projectId: string
}

/** All functions throw `not_found` for a project of another account, and for a group that is not in it. */
export interface ProjectGroups {
  list(accountId: string, projectId: string, page: OrderedPageRequest): Promise<OpenPage<ProjectGroup>>
  read(accountId: string, projectId: string, groupId: string): Promise<ProjectGroup>
  add(place: ProjectPlace, groupId: string, role: string): Promise<ProjectGroup>
  /** Returns after every process has taken from the members what they had by the group. */
  remove(place: ProjectPlace, groupId: string): Promise<void>
}

export function createProjectGroups({ database, keys }: GroupOptions): ProjectGroups {
  return {
    list: async (accountId, projectId, page) => {
      await findProject(database, accountId, projectId)
      const { isBehind, inOrder, after } = orderedPage('p.group_id', '$2', page)
      const rows = await database.query<ProjectGroupRow>(
        `${SELECT_GROUP} WHERE p.project_id = $1 AND ${isBehind} ${inOrder} LIMIT $3`,
        [projectId, after, page.limit + 1],
      )
      return openPage(rows.map(projectGroupFromRow), page.limit)
    },
    read: async (accountId, projectId, groupId) => {
      await findProject(database, accountId, projectId)
      return readProjectGroup(database, projectId, groupId)
    },
    add: async (place, groupId, role) => {
      const { caller, projectId } = place
      const { accountId } = caller
      const added = await database.transaction(async (transaction) => {
        await requireActiveProject(transaction, accountId, projectId)
        await keys.requireMayGive(transaction, caller, { projectId, roles: [`project:${role}`] })
        const { id } = await readGroup(transaction, accountId, groupId)
        const rows = await transaction.query(
          `INSERT INTO project_groups (project_id, account_id, group_id, role) VALUES ($1, $2, $3, $4)
           ON CONFLICT DO NOTHING RETURNING group_id`,
          [projectId, accountId, id, role],
        )
        if (rows.length === 0) throw new AppError('conflict', 'This group is already in the project.')
        await record(transaction, place, 'project.group.added', id, { role })
        return readProjectGroup(transaction, projectId, id)
      })
      await keys.announceAccountChange(accountId)
      return added
    },
    remove: async (place, groupId) => {
      const { caller, projectId } = place
      const { accountId } = caller
      await database.transaction(async (transaction) => {
        await requireActiveProject(transaction, accountId, projectId)
        const { id, role } = await readProjectGroup(transaction, projectId, groupId)
        await keys.requireMayGive(transaction, caller, { projectId, roles: [`project:${role}`] })
        await transaction.query('DELETE FROM project_groups WHERE project_id = $1 AND group_id = $2', [
          projectId,
          id,
        ])
        await record(transaction, place, 'project.group.removed', id)
      })
      await keys.announceAccountChange(accountId)
    },
  }
}

function record(
  transaction: Queryable,
  { caller: actor, projectId }: ProjectPlace,
  type: 'project.group.added' | 'project.group.removed',
  groupId: string,
  details: { readonly role?: string } = {},
): Promise<void> {
  const resourceId = wireId('group', groupId)
  return recordChange(transaction, { actor, type, projectId, resourceId, details: { data: details } })
}

interface ProjectGroupRow {
  readonly id: string
  readonly project_id: string
  readonly name: string
  readonly role: string
  readonly added_at: Date
}

const SELECT_GROUP = `
  SELECT g.id, p.project_id, g.name, p.role, p.added_at FROM project_groups p JOIN groups g ON g.id = p.group_id`

function projectGroupFromRow(row: ProjectGroupRow): ProjectGroup {
  const { project_id: projectId, added_at: addedAt, ...named } = row
  return { ...named, projectId, addedAtMs: addedAt.getTime() }
}

async function readProjectGroup(
  queryable: Queryable,
  projectId: string,
  groupId: string,
): Promise<ProjectGroup> {
  const [row] = isUuid(groupId)
    ? await queryable.query<ProjectGroupRow>(`${SELECT_GROUP} WHERE p.project_id = $1 AND p.group_id = $2`, [
        projectId,
        groupId,
      ])
    : []
  if (row === undefined) throw notFound('group')
  return projectGroupFromRow(row)
}

/** Throws for an archived project, in which nothing changes any more. */
async function requireActiveProject(
  transaction: Queryable,
  accountId: string,
  projectId: string,
): Promise<void> {
  const { isArchived } = await findProject(transaction, accountId, projectId, { forShare: true })
  if (isArchived) throw new AppError('conflict', 'The project is archived.')
}

async function findProject(
  queryable: Queryable,
  accountId: string,
  projectId: string,
  { forShare = false } = {},
): Promise<{ isArchived: boolean }> {
  const [project] = isUuid(projectId)
    ? await queryable.query<{ archived_at: Date | null }>(
        `SELECT archived_at FROM projects WHERE id = $1 AND account_id = $2 ${forShare ? 'FOR SHARE' : ''}`,
        [projectId, accountId],
      )
    : []
  if (project === undefined) throw notFound('project')
  return { isArchived: project.archived_at !== null }
}
