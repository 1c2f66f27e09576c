import { AppError } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, openPage, type OpenPage, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { checkTagSettings, type Caller, type TagSettings } from '../keys/keys.ts'
import type { ProjectOptions } from './project-options.ts'
import { PROJECT_COLUMNS, projectFromRow, type Project, type ProjectRow } from './project-record.ts'
import { createProjectModelPermissions, type ProjectModelPermissions } from './project-models.ts'
import { createProjectRateLimits, type ProjectRateLimits } from './project-rate-limits.ts'
import { createProjectMembers, type ProjectMembers } from './project-members.ts'
import { projectArchived, readProject } from './read-project.ts'
import { createServiceAccounts, type ServiceAccounts } from './service-accounts.ts'

export type { Project } from './project-record.ts'
export { mayUseModel, modelNotAllowed } from './model-access.ts'
export type { ProjectModels } from './project-models.ts'
export type { ModelLimits } from './project-rate-limits.ts'
export { PROJECT_ROLES, type ProjectMember } from './project-members.ts'
export { SERVICE_ACCOUNT_ROLES, type ServiceAccount } from './service-accounts.ts'

/** Archived ones count too, because they stay. */
const PROJECTS_MAX = 10_000

/** What people choose of a project. */
interface ProjectDraft extends Partial<TagSettings> {
  readonly name: string
}

/** Every function throws `not_found` for a project of another account. */
export interface Projects {
  create(caller: Caller, draft: ProjectDraft): Promise<Project>
  read(accountId: string, projectId: string): Promise<Project>
  /** Newest first. */
  list(accountId: string, page: PageRequest, filter: { includeArchived: boolean }): Promise<OpenPage<Project>>
  /** Returns after every process knows what the tags of requests must be. Absent members stay unchanged. */
  change(caller: Caller, projectId: string, changes: Partial<ProjectDraft>): Promise<Project>
  /** Returns after every process refuses the keys of the project. A repeated call has no further effect. */
  archive(caller: Caller, projectId: string): Promise<Project>
  readonly members: ProjectMembers
  readonly serviceAccounts: ServiceAccounts
  readonly modelPermissions: ProjectModelPermissions
  readonly rateLimits: ProjectRateLimits
}

export function createProjects(
  options: ProjectOptions & { readonly catalog: Pick<Catalog, 'resolve' | 'resolveFor' | 'listFor'> },
): Projects {
  const { database, clock, keys } = options
  return {
    create: async (actor, { name, ...tags }) => {
      checkTagSettings(tags)
      return database.transaction(async (transaction) => {
        const { accountId } = actor
        const project = await insertProject(transaction, { accountId, name, tags, nowMs: clock.nowMs() })
        // Their member is `title`.
        await record(transaction, actor, 'project.created', project, { data: { name, title: name } })
        return project
      })
    },
    read: (accountId, projectId) => readProject(database, accountId, projectId),
    list: async (accountId, { limit, afterId }, { includeArchived }) => {
      const rows = await database.query<ProjectRow>(
        `SELECT ${PROJECT_COLUMNS} FROM projects
         WHERE account_id = $1 AND id < $2 AND ($3 OR archived_at IS NULL) ORDER BY id DESC LIMIT $4`,
        [accountId, afterId ?? ID_AFTER_ALL, includeArchived, limit + 1],
      )
      return openPage(rows.map(projectFromRow), limit)
    },
    change: async (actor, projectId, changes) => {
      checkTagSettings(changes)
      const project = await database.transaction((transaction) =>
        changeProject(transaction, actor, projectId, changes),
      )
      if (changes.requiredTags !== undefined || changes.fixedTags !== undefined)
        await keys.announceAccountChange(actor.accountId)
      return project
    },
    archive: async (actor, projectId) => {
      const { id, accountId } = await readProject(database, actor.accountId, projectId)
      if (id === accountId) {
        throw new AppError(
          'conflict',
          'The project Default cannot be archived: the keys of the account work in it.',
        )
      }
      await database.transaction(async (transaction) => {
        const archived = await transaction.query(
          'UPDATE projects SET archived_at = $3 WHERE id = $1 AND account_id = $2 AND archived_at IS NULL RETURNING id',
          [id, accountId, new Date(clock.nowMs())],
        )
        if (archived.length > 0) await record(transaction, actor, 'project.archived', { id })
      })
      await keys.announceAccountChange(accountId)
      return readProject(database, accountId, id)
    },
    members: createProjectMembers(options),
    serviceAccounts: createServiceAccounts(options),
    modelPermissions: createProjectModelPermissions(options, options.catalog),
    rateLimits: createProjectRateLimits(options, options.catalog),
  }
}

async function changeProject(
  transaction: Queryable,
  actor: Caller,
  projectId: string,
  changes: Partial<ProjectDraft>,
): Promise<Project> {
  const before = await readProject(transaction, actor.accountId, projectId, { forUpdate: true })
  const { id, accountId, name, requiredTags, fixedTags } = { ...before, ...changes }
  const [row] = await transaction.query<ProjectRow>(
    `UPDATE projects SET name = $3, required_tags = $4, fixed_tags = $5
     WHERE id = $1 AND account_id = $2 AND archived_at IS NULL RETURNING ${PROJECT_COLUMNS}`,
    [id, accountId, name, requiredTags, fixedTags === null ? null : JSON.stringify(fixedTags)],
  )
  if (row === undefined) throw projectArchived()
  const project = projectFromRow(row)
  const asked = {
    name: changes.name,
    title: changes.name,
    required_tags: changes.requiredTags,
    fixed_tags: changes.fixedTags,
  }
  await record(transaction, actor, 'project.updated', project, { changes_requested: asked })
  return project
}

function record(
  transaction: Queryable,
  actor: Caller,
  type: AccountChange['type'],
  { id }: Pick<Project, 'id'>,
  details: AccountChange['details'] = {},
): Promise<void> {
  return recordChange(transaction, { actor, type, projectId: id, resourceId: wireId('project', id), details })
}

interface NewProject {
  readonly accountId: string
  readonly name: string
  readonly tags: Partial<TagSettings>
  readonly nowMs: number
}

async function insertProject(
  transaction: Queryable,
  { accountId, name, tags, nowMs }: NewProject,
): Promise<Project> {
  const [row] = await transaction.query<ProjectRow>(
    `INSERT INTO projects (id, account_id, name, created_at, required_tags, fixed_tags)
     SELECT $1, $2::uuid, $3, $4, $6::text[], $7::jsonb WHERE (SELECT count(*) FROM projects WHERE account_id = $2) < $5
     RETURNING ${PROJECT_COLUMNS}`,
    [
      createId(nowMs),
      accountId,
      name,
      new Date(nowMs),
      PROJECTS_MAX,
      tags.requiredTags ?? null,
      tags.fixedTags ? JSON.stringify(tags.fixedTags) : null,
    ],
  )
  if (row === undefined)
    throw new AppError('conflict', `An account has at most ${PROJECTS_MAX} projects, archived ones included.`)
  return projectFromRow(row)
}
