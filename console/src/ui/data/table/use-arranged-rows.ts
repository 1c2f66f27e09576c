import { useEffect, useMemo, useState } from 'react'
import { formatCount } from '../../format/format-count.ts'
import { showToast } from '../../overlays/toasts.tsx'
import { downloadCsv } from '../download-csv.ts'
import { shownColumns, sortRows, tableCsv } from './arrange-table.ts'
import type { Column } from './column.ts'
import { useTableState, type TableState } from './table-state.ts'
import { LOADED_ROWS_MAX, type MoreRows, type TableTools } from './table-tools.ts'
import { useIsNarrow } from './use-is-narrow.ts'

interface ArrangedRows<Row> {
  readonly state: TableState
  readonly setState: (state: TableState) => void
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** Rows are loaded for a file. */
  readonly isSaving: boolean
  /** Saves all rows, those that are not loaded yet as well. */
  readonly save: () => void
}

interface Arrangeable<Row> {
  readonly tools: TableTools
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly more: MoreRows | undefined
}

/** The rows and columns as a person has arranged them. To sort or save, all rows are loaded first: no part of them is ever sorted alone. */
export function useArrangedRows<Row>({ tools, columns, rows, more }: Arrangeable<Row>): ArrangedRows<Row> {
  const [state, setState] = useTableState(tools.id)
  const isNarrow = useIsNarrow()
  const [isSaving, setIsSaving] = useState(false)
  const isSortedByApi = tools.order !== undefined
  const isSorting = !isSortedByApi && state.sort !== null
  const isWaiting = (isSorting || isSaving) && more !== undefined && more.loadedCount < LOADED_ROWS_MAX
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
  const end = isSaving ? endOfLoading(more) : null
  useEffect(() => {
    if (end === null) return
    setIsSaving(false)
    if (end === 'whole') downloadCsv(`${tools.id}.csv`, tableCsv(sorted, columns))
    else showToast('The file was not saved', REASONS[end])
    // Each end of loading is acted on once.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [end])
  const shown = useMemo(() => shownColumns(columns, state, isNarrow), [columns, state, isNarrow])
  return { state, setState, columns: shown, rows: sorted, isSaving, save: () => setIsSaving(true) }
}

const REASONS = {
  long: `There are more than ${formatCount(LOADED_ROWS_MAX)} rows. Narrow them with filters.`,
  failed: 'Not all rows could be loaded.',
} as const

function endOfLoading(more: MoreRows | undefined): 'whole' | keyof typeof REASONS | null {
  if (more === undefined) return 'whole'
  if (more.loadedCount >= LOADED_ROWS_MAX) return 'long'
  return more.load === undefined && !more.isLoading ? 'failed' : null
}
