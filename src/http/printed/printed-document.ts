/** A document of text and tables, which is printed as PDF. Amounts are texts already. */
export interface PrintedDocument {
  readonly title: string
  /** Under the title, one a line. */
  readonly subtitles: readonly string[]
  /** Beside the title: who issues the document, one a line. */
  readonly issuer: readonly string[]
  readonly tables: readonly PrintedTable[]
  /** At the end, one paragraph each. */
  readonly notes: readonly string[]
  readonly language: string
}

export interface PrintedTable {
  readonly title: string
  readonly columns: readonly PrintedColumn[]
  readonly rows: readonly (readonly string[])[]
  /** Rows that are set in bold, by their number. */
  readonly boldRows?: readonly number[]
}

interface PrintedColumn {
  readonly title: string
  /** Its share of the width. The shares of a table add up to one. */
  readonly share: number
  readonly isRight?: boolean
}
