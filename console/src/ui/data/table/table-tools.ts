import type { TableState } from './table-state.ts'

/** What a table lets people arrange and take along. */
export interface TableTools {
  /** Names the table in the address and its file. Unique on its page. */
  readonly id: string
  /** Where the API has all rows as a file, which it streams. Without it, the rows that are not loaded yet are read for the file. */
  readonly fileUrl?: string | undefined
  /** Where the API sorts all rows, so that the table sorts none. */
  readonly order?: TableOrder | undefined
  /** Which rows these are if the API has more that cannot be asked for: "the 100 most frequent". */
  readonly part?: string | undefined
}

interface TableOrder {
  /** The ids of the columns that the API sorts by. */
  readonly columns: readonly string[]
  readonly sort: TableState['sort']
  readonly onChange: (sort: TableState['sort']) => void
}

/** The rows that are not loaded yet. */
export interface MoreRows {
  /** Absent while they cannot be asked for. */
  readonly load: (() => void) | undefined
  readonly isLoading: boolean
  /** How many are loaded, with those that a filter of the page hides. */
  readonly loadedCount: number
}

/** Above this, rows are not loaded for sorting and for files. */
export const LOADED_ROWS_MAX = 10_000
