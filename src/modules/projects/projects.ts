import { AppError, notFound } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, openPage, type OpenPage, type PageRequest } from '../../kernel/page.ts'
import type { Database } from '../../storage/database.ts'
import type { ProjectOptions } from './project-options.ts'
import { PROJECT_COLUMNS, projectFromRow, type Project, type ProjectRow } from './project-record.ts'
import { createProjectMembers, type ProjectMembers } from './project-members.ts'
import { projectArchived, readProject } from './read-project.ts'
import { createServiceAccounts, type ServiceAccounts } from './service-accounts.ts'

export type { Project } from './project-record.ts'
export { PROJECT_ROLES, type ProjectMember } from './project-members.ts'
export { SERVICE_ACCOUNT_ROLES, type ServiceAccount } from './service-accounts.ts'

/** Archived ones count too, because they stay. */
const PROJECTS_MAX = 10_000

/** Every function throws `not_found` for a project of another account. */
export interface Projects {
  create(accountId: string, name: string): Promise<Project>
  read(accountId: string, projectId: string): Promise<Project>
  /** Newest first. */
  list(accountId: string, page: PageRequest, filter: { includeArchived: boolean }): Promise<OpenPage<Project>>
  rename(accountId: string, projectId: string, name: string): Promise<Project>
  /** Returns after every process refuses the keys of the project. A repeated call has no further effect. */
  archive(accountId: string, projectId: string): Promise<Project>
  readonly members: ProjectMembers
  readonly serviceAccounts: ServiceAccounts
}

export function createProjects(options: ProjectOptions): Projects {
  const { database, clock, keys } = options
  return {
    create: (accountId, name) => insertProject(database, { accountId, name, nowMs: clock.nowMs() }),
    read: (accountId, projectId) => readProject(database, accountId, projectId),
    list: async (accountId, { limit, afterId }, { includeArchived }) => {
      const rows = await database.query<ProjectRow>(
        `SELECT ${PROJECT_COLUMNS} FROM projects
         WHERE account_id = $1 AND id < $2 AND ($3 OR archived_at IS NULL) ORDER BY id DESC LIMIT $4`,
        [accountId, afterId ?? ID_AFTER_ALL, includeArchived, limit + 1],
      )
      return openPage(rows.map(projectFromRow), limit)
    },
    rename: async (accountId, projectId, name) => {
      const { id } = await readProject(database, accountId, projectId)
      const [row] = await database.query<ProjectRow>(
        `UPDATE projects SET name = $3 WHERE id = $1 AND account_id = $2 AND archived_at IS NULL
         RETURNING ${PROJECT_COLUMNS}`,
        [id, accountId, name],
      )
      if (row === undefined) throw projectArchived()
      return projectFromRow(row)
    },
    archive: async (accountId, projectId) => {
      const { id } = await readProject(database, accountId, projectId)
      if (id === accountId) {
        throw new AppError(
          'conflict',
          'The project Default cannot be archived: the keys of the account work in it.',
        )
      }
      const [row] = await database.query<ProjectRow>(
        `UPDATE projects SET archived_at = coalesce(archived_at, $3)
         WHERE id = $1 AND account_id = $2 RETURNING ${PROJECT_COLUMNS}`,
        [id, accountId, new Date(clock.nowMs())],
      )
      if (row === undefined) throw notFound('project')
      await keys.announceAccountChange(accountId)
      return projectFromRow(row)
    },
    members: createProjectMembers(options),
    serviceAccounts: createServiceAccounts(options),
  }
}

async function insertProject(
  database: Database,
  { accountId, name, nowMs }: { accountId: string; name: string; nowMs: number },
): Promise<Project> {
  const [row] = await database.query<ProjectRow>(
    `INSERT INTO projects (id, account_id, name, created_at)
     SELECT $1, $2::uuid, $3, $4 WHERE (SELECT count(*) FROM projects WHERE account_id = $2) < $5
     RETURNING ${PROJECT_COLUMNS}`,
    [createId(nowMs), accountId, name, new Date(nowMs), PROJECTS_MAX],
  )
  if (row === undefined)
    throw new AppError('conflict', `An account has at most ${PROJECTS_MAX} projects, archived ones included.`)
  return projectFromRow(row)
}
