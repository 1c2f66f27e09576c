/** Which part of a list is wanted: what follows the entry with this id, newest first unless the list says otherwise. */
export interface PageRequest {
  readonly limit: number
  readonly afterId: string | null
}

/** Sorts after every id, so that a list without a cursor and one with it are the same statement and use the index. */
export const ID_AFTER_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export interface Page<Item> {
  readonly items: readonly Item[]
  /** How many the whole list holds. */
  readonly total: number
  readonly hasMore: boolean
}
