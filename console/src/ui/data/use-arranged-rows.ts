import { useEffect, useMemo } from 'react'
import { shownColumns, sortRows } from './arrange-table.ts'
import type { Column } from './column.ts'
import { useTableState, type TableState } from './table-state.ts'
import { SORTED_ROWS_MAX, type MoreRows } from './table-tools.tsx'

interface ArrangedRows<Row> {
  readonly state: TableState
  readonly setState: (state: TableState) => void
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
}

interface Arrangeable<Row> {
  readonly id: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly more: MoreRows | undefined
  readonly isSortedByApi: boolean
}

/** The rows and columns as a person has arranged them. To sort, all rows are loaded first: no part of them is ever sorted alone. */
export function useArrangedRows<Row>(arrangeable: Arrangeable<Row>): ArrangedRows<Row> {
  const { id, columns, rows, more, isSortedByApi } = arrangeable
  const [state, setState] = useTableState(id)
  const isWaiting =
    !isSortedByApi && state.sort !== null && more !== undefined && rows.length < SORTED_ROWS_MAX
  const isLoading = more?.isLoading === true
  const load = more?.load
  useEffect(() => {
    if (isWaiting && !isLoading) load?.()
  }, [isWaiting, isLoading, load])
  const isWhole = more === undefined && !isSortedByApi
  const sorted = useMemo(
    () => (isWhole ? sortRows(rows, columns, state) : rows),
    [isWhole, rows, columns, state],
  )
  return { state, setState, columns: shownColumns(columns, state), rows: sorted }
}
