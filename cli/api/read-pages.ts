import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

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
    const next = page.has_more && page.data.length > 0 ? page.next_cursor : null
    // It would be asked for the same page without end.
    if (next !== null && next === after)
      throw new CommandFailure(EXIT.failed, 'The gateway sent the same page twice.')
    after = next
  } while (after !== null && items.length < count)
  return items
}
