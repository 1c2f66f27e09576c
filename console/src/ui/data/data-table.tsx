import { DrawnTable, type DrawnTableProps } from './table/drawn-table.tsx'
import type { TableState } from './table/table-state.ts'
import { TableToolBar } from './table/table-tool-bar.tsx'
import type { TableTools } from './table/table-tools.ts'
import { useArrangedRows } from './table/use-arranged-rows.ts'

export type { Column } from './table/column.ts'

/** `columns` and `rows` are of one identity while they are the same, so that they are not sorted in each rendering. */
interface DataTableProps<Row> extends Omit<DrawnTableProps<Row>, 'sort' | 'sortable' | 'onSort'> {
  /** There are more rows, even if they cannot be asked for now. */
  readonly hasMore?: boolean | undefined
  /** How many rows are loaded, if the page hides some of them. */
  readonly loadedCount?: number | undefined
  /** Lets people sort, choose columns and save the rows. The address keeps what they chose. */
  readonly tools: TableTools
}

/** A table that renders only the rows in view, asks for more at its end, and that people arrange and save. */
export function DataTable<Row>({ tools, loadedCount, ...props }: DataTableProps<Row>) {
  const { columns, rows, onEnd, isLoadingMore = false, hasMore = onEnd !== undefined } = props
  const more = hasMore
    ? { load: onEnd, isLoading: isLoadingMore, loadedCount: loadedCount ?? rows.length }
    : undefined
  const { order } = tools
  const arranged = useArrangedRows({ tools, columns, rows, more })
  const { state, setState } = arranged
  const sort = order === undefined ? state.sort : order.sort
  const setSort = (next: TableState['sort']): void => {
    if (order === undefined) setState({ ...state, sort: next })
    else order.onChange(next)
  }
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <TableToolBar
        label={props.label}
        tools={tools}
        columns={columns}
        shown={arranged.columns}
        rowCount={rows.length}
        more={more}
        sort={sort}
        isSaving={arranged.isSaving}
        onColumns={(chosen) => setState({ ...state, columns: chosen })}
        onReset={() => {
          setState({ sort: null, columns: null })
          order?.onChange(null)
        }}
        onSave={arranged.save}
      />
      <DrawnTable
        {...props}
        columns={arranged.columns}
        rows={arranged.rows}
        sort={sort}
        sortable={order?.columns}
        onSort={(column) => setSort(nextSort(sort, column))}
      />
    </div>
  )
}

/** Upwards, then downwards, then as at first. */
function nextSort(sort: TableState['sort'], column: string): TableState['sort'] {
  if (sort?.column !== column) return { column, isDescending: false }
  return sort.isDescending ? null : { column, isDescending: true }
}
