import {
  infiniteQueryOptions,
  type InfiniteData,
  type QueryClient,
  type QueryKey,
} from '@tanstack/react-query'

interface Page<Row> {
  readonly data: readonly Row[]
  readonly next_cursor?: string | null | undefined
}

interface CursorPagesOptions<Row, List extends Page<Row>> {
  readonly queryKey: QueryKey
  readonly fetchPage: (after: string | undefined, signal: AbortSignal) => Promise<List>
}

/** Pages kept in memory. Above that, a filter helps more than scrolling. */
const PAGES_MAX = 2_000

/** A list with more pages is refetched only on request, because a refetch reads all of its pages one after the other. */
const REFETCHED_PAGES_MAX = 3

interface PagesState {
  readonly state: { readonly data?: { readonly pages: readonly unknown[] } | undefined }
}

const isShort = ({ state }: PagesState): boolean => (state.data?.pages.length ?? 0) <= REFETCHED_PAGES_MAX

/** Reads a list again from its first page on. */
export async function refreshPages(queryClient: QueryClient, queryKey: QueryKey): Promise<void> {
  queryClient.setQueryData<InfiniteData<unknown>>(
    queryKey,
    (old) => old && { pages: old.pages.slice(0, 1), pageParams: old.pageParams.slice(0, 1) },
  )
  await queryClient.invalidateQueries({ queryKey, exact: true })
}

/** Query options for a list that the API pages by cursor. */
export function cursorPages<Row, List extends Page<Row>>({
  queryKey,
  fetchPage,
}: CursorPagesOptions<Row, List>) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    refetchOnMount: isShort,
    refetchOnWindowFocus: isShort,
    refetchOnReconnect: isShort,
    getNextPageParam: (last: List, all: readonly List[]) =>
      all.length < PAGES_MAX ? (last.next_cursor ?? undefined) : undefined,
  })
}
