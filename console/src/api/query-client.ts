import { notifyManager, QueryClient } from '@tanstack/react-query'
import { describeFailure } from './api-error.ts'

const RETRIES_MAX = 2

// Before the next event, so that the second click of a double click finds its button busy.
notifyManager.setScheduler(queueMicrotask)

/** Creates the cache of everything that pages read from the API. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      mutations: { networkMode: 'always' },
      queries: {
        staleTime: 10_000,
        // A gateway on this machine or in this network answers without the internet too.
        networkMode: 'always',
        retry: (count, error) => count < RETRIES_MAX && isWorthRetrying(error),
      },
    },
  })
}

function isWorthRetrying(error: unknown): boolean {
  const { status } = describeFailure(error)
  return status === 0 || status === 502 || status === 503 || status === 504
}
