import { infiniteQueryOptions, type QueryKey } from '@tanstack/react-query'

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

/** Query options for a list that the API pages by cursor. */
export function cursorPages<Row, List extends Page<Row>>({
  queryKey,
  fetchPage,
}: CursorPagesOptions<Row, List>) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last: List, all: readonly List[]) =>
      all.length < PAGES_MAX ? (last.next_cursor ?? undefined) : undefined,
  })
}
