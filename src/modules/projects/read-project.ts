import { AppError, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import { PROJECT_COLUMNS, projectFromRow, type Project, type ProjectRow } from './project-record.ts'

export async function readProject(
  queryable: Queryable,
  accountId: string,
  projectId: string,
  { forShare = false, forUpdate = false } = {},
): Promise<Project> {
  if (!isUuid(projectId)) throw notFound('project')
  const lock = forUpdate ? 'FOR UPDATE' : forShare ? 'FOR SHARE' : ''
  const [row] = await queryable.query<ProjectRow>(
    `SELECT ${PROJECT_COLUMNS} FROM projects WHERE id = $1 AND account_id = $2 ${lock}`,
    [projectId, accountId],
  )
  if (row === undefined) throw notFound('project')
  return projectFromRow(row)
}

/** Throws for an archived project, in which nothing changes any more. */
export async function requireActive(
  transaction: Queryable,
  accountId: string,
  projectId: string,
): Promise<void> {
  const { archivedAtMs } = await readProject(transaction, accountId, projectId, { forShare: true })
  if (archivedAtMs !== null) throw projectArchived()
}

export function projectArchived(): AppError {
  return new AppError('conflict', 'The project is archived.')
}
