import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'

const LATEST_COUNT = 6

/** The newest deployments. */
export const latestDeploymentsQuery = queryOptions({
  queryKey: ['deployments', 'latest'],
  queryFn: ({ signal }) =>
    call(() => client.GET('/v1/deployments', { params: { query: { limit: LATEST_COUNT } }, signal })),
  refetchInterval: 30_000,
})
