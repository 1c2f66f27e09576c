import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'

export type Finding = Awaited<ReturnType<typeof examine>>['data'][number]

/** What is wrong with the gateway, and how to mend it. Every provider is asked, so that it is not repeated by itself. */
export const doctorQuery = queryOptions({
  queryKey: ['doctor'],
  queryFn: ({ signal }) => examine(signal),
  staleTime: 30_000,
})

function examine(signal: AbortSignal) {
  return call(() => client.GET('/v1/admin/doctor', { signal }))
}
