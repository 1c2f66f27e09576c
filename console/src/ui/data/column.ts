import type { ReactNode } from 'react'

export interface Column<Row> {
  readonly id: string
  readonly header: string
  /** Any CSS width. Columns without one share the rest. */
  readonly width?: string | undefined
  readonly align?: 'left' | 'right' | undefined
  /** Left out where the page is narrow. */
  readonly isMinor?: boolean | undefined
  /** Hidden until the person chooses it. */
  readonly isHiddenAtFirst?: boolean | undefined
  /** What the column sorts by and what files have. Times are RFC 3339. Without it, the column does neither. */
  readonly value?: ((row: Row) => string | number | null | undefined) | undefined
  readonly render: (row: Row) => ReactNode
}
