import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'

/** The sums of today in UTC, with an entry for each hour. */
export const usageTodayQuery = queryOptions({
  queryKey: ['usage', 'today'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/usage/today', { signal })),
  refetchInterval: 60_000,
})
