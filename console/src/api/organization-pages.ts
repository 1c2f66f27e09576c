import { cursorPages } from './cursor-pages.ts'

interface Listed<Row> {
  readonly data: readonly Row[]
  readonly has_more: boolean
  readonly last_id?: string | null | undefined
  readonly next?: string | null | undefined
}

/** Query options for a list in OpenAI's form, which names the last entry or the next page. */
export function organizationPages<Row>(
  queryKey: readonly unknown[],
  fetchPage: (page: { after?: string; limit: number }, signal: AbortSignal) => Promise<Listed<Row>>,
) {
  return cursorPages({
    queryKey,
    fetchPage: async (after, signal) => {
      const page = { limit: 100, ...(after !== undefined && { after }) }
      const { data, has_more: hasMore, last_id: lastId, next } = await fetchPage(page, signal)
      return { data, next_cursor: hasMore ? (next ?? lastId ?? null) : null }
    },
  })
}

/** Times of these lists are in seconds. */
export const msOf = (seconds: number | null | undefined): number | null =>
  seconds === null || seconds === undefined ? null : seconds * 1000

/** A row of the list that these query options read. */
export type RowOf<Query extends (...given: never[]) => unknown> =
  ReturnType<Query> extends { getNextPageParam: (last: infer Page, ...rest: never[]) => unknown }
    ? Page extends { data: readonly (infer Row)[] }
      ? Row
      : never
    : never
