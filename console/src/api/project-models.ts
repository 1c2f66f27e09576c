import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'
import { organizationPages, type RowOf } from './organization-pages.ts'

export type ModelMode = 'allow_list' | 'deny_list'
export type ProjectLimit = RowOf<typeof projectLimitsQuery>

const at = (id: string) => ({ path: { project_id: id } })

/** Which models a project may use. */
export const projectModelsQuery = (id: string) =>
  queryOptions({
    queryKey: ['projects', id, 'models'],
    queryFn: ({ signal }) =>
      call(() =>
        client.GET('/v1/organization/projects/{project_id}/model_permissions', { params: at(id), signal }),
      ),
  })

export const setProjectModels = (id: string, mode: ModelMode, modelIds: readonly string[]) =>
  call(() =>
    client.POST('/v1/organization/projects/{project_id}/model_permissions', {
      params: at(id),
      body: { mode, model_ids: [...modelIds] },
    }),
  )

/** How much of each model a project may use. */
export const projectLimitsQuery = (id: string) =>
  organizationPages(['projects', id, 'limits'], (query, signal) =>
    call(() =>
      client.GET('/v1/organization/projects/{project_id}/rate_limits', {
        params: { ...at(id), query },
        signal,
      }),
    ),
  )

export interface LimitChanges {
  readonly max_requests_per_1_minute?: number | null
  readonly max_tokens_per_1_minute?: number | null
  readonly max_requests_per_1_day?: number | null
}

export const changeProjectLimit = (id: string, limitId: string, body: LimitChanges) =>
  call(() =>
    client.POST('/v1/organization/projects/{project_id}/rate_limits/{rate_limit_id}', {
      params: { path: { project_id: id, rate_limit_id: limitId } },
      body,
    }),
  )
