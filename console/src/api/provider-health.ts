import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'

export type ProviderHealth = Awaited<ReturnType<typeof fetchHealth>>['data'][number]

/** How each provider did for 30 days, by day. */
export const providerHealthQuery = queryOptions({
  queryKey: ['provider-health'],
  queryFn: ({ signal }) => fetchHealth(signal),
  staleTime: 60_000,
})

function fetchHealth(signal: AbortSignal) {
  return call(() =>
    client.GET('/v1/admin/provider_health', {
      params: { query: { window: '30d', granularity: 'day' } },
      signal,
    }),
  )
}
