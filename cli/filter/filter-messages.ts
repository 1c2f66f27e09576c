/** What the thread of a filter starts with. */
export interface FilterStart {
  readonly kind: FilterKind
  readonly text: string
  /** Whether a person reads the output: it is indented and may be coloured. */
  readonly isForPerson: boolean
  readonly columns: number
}

export type FilterKind = 'jq' | 'template'

/** What the thread answers: at its start with an empty text, or with what is wrong with the filter, and then once per value. */
export interface FilterAnswer {
  readonly text: string
  readonly failure: string | null
}

/** Returns what a filter makes of the text of one JSON value. */
export type Filter = (json: string) => FilterAnswer
