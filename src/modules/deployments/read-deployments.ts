import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, type Page, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import type { Deployment, DeploymentStatus } from './deployment.ts'
import { deploymentFromRow, type DeploymentRow } from './deployment-row.ts'

export interface DeploymentFilter {
  readonly status: DeploymentStatus | null
}

/** Lists deployments, newest first, without deleted ones. */
export async function listDeployments(
  queryable: Queryable,
  place: Place,
  { limit, afterId }: PageRequest,
  { status }: DeploymentFilter,
): Promise<Page<Deployment>> {
  const rows = await queryable.query<DeploymentRow>(
    `SELECT * FROM deployments WHERE ${isListed(place)} AND id < $3 ORDER BY id DESC LIMIT $4`,
    [idsOf(place), status, afterId ?? ID_AFTER_ALL, limit + 1],
  )
  const [count] = await queryable.query<{ total: number }>(
    `SELECT count(*)::int AS total FROM deployments WHERE ${isListed(place)}`,
    [idsOf(place), status],
  )
  return {
    items: rows.slice(0, limit).map(deploymentFromRow),
    total: count?.total ?? 0,
    hasMore: rows.length > limit,
  }
}

const isListed = (place: Place): string =>
  `${isWithin(place, '$1')} AND desired_state <> 'deleted' AND ($2::text IS NULL OR status = $2)`

/** Throws `not_found` for an unknown deployment, for another account's or project's, and, unless `mayBeDeleted`, for a deleted one. */
export async function readDeployment(
  queryable: Queryable,
  { place, deploymentId, mayBeDeleted }: { place: Place; deploymentId: string; mayBeDeleted: boolean },
): Promise<Deployment> {
  const [row] = isUuid(deploymentId)
    ? await queryable.query<DeploymentRow>(
        `SELECT * FROM deployments WHERE id = $1 AND ${isWithin(place, '$2')} AND ($3 OR desired_state <> 'deleted')`,
        [deploymentId, idsOf(place), mayBeDeleted],
      )
    : []
  if (row === undefined) throw notFound('deployment')
  return deploymentFromRow(row)
}
