import type { UseInfiniteQueryResult } from '@tanstack/react-query'

interface NextPages {
  readonly onEnd: (() => void) | undefined
  readonly isLoadingMore: boolean
  readonly hasMore: boolean
}

/** What a table needs to read the next pages of a list. */
export function nextPages(
  query: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'error' | 'isFetchingNextPage' | 'fetchNextPage'>,
): NextPages {
  return {
    // After a failure only the person asks again, so that it does not repeat without end.
    onEnd: query.hasNextPage && !query.error ? () => void query.fetchNextPage() : undefined,
    isLoadingMore: query.isFetchingNextPage,
    hasMore: query.hasNextPage,
  }
}
