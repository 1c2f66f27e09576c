/** The part of a list that a directory asked for. SCIM counts from one. */
export interface ScimPageRequest {
  readonly startIndex: number
  readonly count: number
  /** In SCIM's own language. Null finds everything. */
  readonly filter: string | null
}

export interface ScimPage<Item> {
  readonly items: readonly Item[]
  readonly total: number
  readonly startIndex: number
}

export const PAGE_COUNT_MAX = 200
