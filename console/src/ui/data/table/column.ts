import type { ReactNode } from 'react'

/** A column of a table: of data, or of what can be done with a row. */
export type Column<Row> = DataColumn<Row> | ActionColumn<Row>

interface AnyColumn<Row> {
  readonly id: string
  /** Any CSS width. Columns without one share the rest. */
  readonly width?: string | undefined
  readonly align?: 'left' | 'right' | undefined
  /** Left out where the page is narrow. */
  readonly isMinor?: boolean | undefined
  /** Hidden until the person chooses it. */
  readonly isHiddenAtFirst?: boolean | undefined
  readonly render: (row: Row) => ReactNode
}

interface DataColumn<Row> extends AnyColumn<Row> {
  readonly header: string
  /** What files call the column if people have named it. Otherwise its id. */
  readonly fileHeader?: string | undefined
  /** What the column sorts by and what files have. Times are RFC 3339, amounts are numbers in US dollars. */
  readonly value: (row: Row) => string | number | null | undefined
  readonly isAction?: undefined
}

/** Buttons: nobody sorts or saves them, and they cannot be hidden. */
interface ActionColumn<Row> extends AnyColumn<Row> {
  readonly isAction: true
  readonly header?: undefined
  readonly fileHeader?: undefined
  readonly value?: undefined
}

/** Lists of the organization have times in seconds. */
export function timeOfSeconds(seconds: number | null | undefined): string | null {
  return seconds === null || seconds === undefined ? null : new Date(seconds * 1000).toISOString()
}
