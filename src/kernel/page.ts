/** Which part of a list is wanted: what follows the entry with this id, newest first unless the list says otherwise. */
export interface PageRequest {
  readonly limit: number
  readonly afterId: string | null
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** How many the whole list holds. */
  readonly total: number
  readonly hasMore: boolean
}
