import { readPages } from './read-pages.ts'

/** A page of a list in OpenAI's form, which names its last entry or the next page. */
interface OrganizationPage<Item> {
  readonly data: readonly Item[]
  readonly has_more: boolean
  readonly last_id?: string | null
  readonly next?: string | null
}

/** Reads the first entries of a list of the organization, page by page, up to a number. */
export function readOrganizationPages<Item>(
  count: number,
  read: (query: { limit: number; after?: string }) => Promise<OrganizationPage<Item>>,
): Promise<Item[]> {
  return readPages(count, async (query) => {
    const { data, has_more: hasMore, last_id: lastId, next } = await read(query)
    return { data, has_more: hasMore, next_cursor: next ?? lastId ?? null }
  })
}
