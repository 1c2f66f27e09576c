/** The requested part of a list: up to `limit` entries after the entry `afterId`, newest first unless the list says otherwise. */
export interface PageRequest {
  readonly limit: number
  readonly afterId: string | null
}

/** A page of a list that has both directions. */
export interface OrderedPageRequest extends PageRequest {
  readonly order: 'asc' | 'desc'
}

/** Sorts after all ids, so that lists with and without a cursor use the same statement and index. */
export const ID_AFTER_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Number of entries in the whole list. */
  readonly total: number
  readonly hasMore: boolean
}

/** A page of a list that is not counted. */
export type OpenPage<Item> = Pick<Page<Item>, 'items' | 'hasMore'>

/** Makes a page from the entries that were read: one more than requested, to detect further pages. */
export function openPage<Item>(read: readonly Item[], limit: number): OpenPage<Item> {
  return { items: read.slice(0, limit), hasMore: read.length > limit }
}

/**
 * The SQL of a page in either direction: of the entries behind `afterId`, which is the given parameter, in their order.
 * @param column of ids that sort by time, unique in the list
 */
export function orderedPage(
  column: string,
  parameter: string,
  { order, afterId }: OrderedPageRequest,
): { readonly isBehind: string; readonly inOrder: string; readonly after: string } {
  const isDescending = order === 'desc'
  return {
    isBehind: `${column} ${isDescending ? '<' : '>'} ${parameter}`,
    inOrder: `ORDER BY ${column} ${isDescending ? 'DESC' : 'ASC'}`,
    after: afterId ?? (isDescending ? ID_AFTER_ALL : ID_BEFORE_ALL),
  }
}

export const ID_BEFORE_ALL = '00000000-0000-0000-0000-000000000000'
