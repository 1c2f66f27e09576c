/** A page of a list of the API. */
interface ListPage<Item> {
  readonly data: readonly Item[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

const PAGE_SIZE_MAX = 100

/** Reads the first entries of a list, page by page, up to a number. */
export async function readPages<Item>(
  count: number,
  read: (query: { limit: number; after?: string }) => Promise<ListPage<Item>>,
): Promise<Item[]> {
  const items: Item[] = []
  let after: string | null = null
  do {
    const limit = Math.min(count - items.length, PAGE_SIZE_MAX)
    const page: ListPage<Item> = await read({ limit, ...(after === null ? {} : { after }) })
    items.push(...page.data)
    after = page.has_more && page.data.length > 0 ? page.next_cursor : null
  } while (after !== null && items.length < count)
  return items
}
