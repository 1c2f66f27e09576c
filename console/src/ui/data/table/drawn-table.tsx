import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useEffect, useRef } from 'react'
import { classNames } from '../../class-names.ts'
import { Icon } from '../../icon.tsx'
import type { Column } from './column.ts'
import type { TableState } from './table-state.ts'

export interface DrawnTableProps<Row> {
  /** What the rows are, for screen readers. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
  readonly onOpen?: ((row: Row) => void) | undefined
  /** Called when the last rows come into view. Give it while there are more. */
  readonly onEnd?: (() => void) | undefined
  readonly isLoadingMore?: boolean | undefined
  /** The height of the table where it scrolls by itself. */
  readonly heightClass?: string | undefined
  readonly sort?: TableState['sort']
  /** The ids of the columns that can be sorted by. Without it, those with values. */
  readonly sortable?: readonly string[] | undefined
  readonly onSort: (column: string) => void
}

const ROW_HEIGHT_PX = 40
const ROWS_AHEAD = 6

/** Renders only the rows in view, and asks for more at its end. Pages use `DataTable`, which also arranges and saves rows. */
export function DrawnTable<Row>(props: DrawnTableProps<Row>) {
  const { sort = null, sortable, onSort } = props
  const { label, columns, rows, rowId, onOpen, onEnd, isLoadingMore, heightClass = 'max-h-[70dvh]' } = props
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: ROWS_AHEAD,
  })
  const items = virtual.getVirtualItems()
  const [first, last] = [items[0], items.at(-1)]
  const isAtEnd = last !== undefined && last.index >= rows.length - ROWS_AHEAD
  useEffect(() => {
    if (isAtEnd && !isLoadingMore) onEnd?.()
  }, [isAtEnd, isLoadingMore, onEnd])

  return (
    <div
      ref={scroller}
      role="region"
      aria-label={label}
      tabIndex={0}
      className={classNames(
        'overflow-auto rounded-lg border border-line bg-surface -outline-offset-2',
        heightClass,
      )}
    >
      <table
        aria-rowcount={rows.length}
        className="w-full table-fixed border-collapse text-sm max-sm:table-auto"
      >
        <colgroup>
          {columns.map((column) => (
            <col
              key={column.id}
              className={column.isMinor ? 'max-md:hidden' : ''}
              style={{ width: column.width }}
            />
          ))}
        </colgroup>
        <thead className="sticky top-0 z-10 bg-surface shadow-[inset_0_-1px_0_var(--color-line)]">
          <tr>
            {columns.map((column) => (
              <th
                key={column.id}
                scope="col"
                aria-sort={
                  sort?.column === column.id ? (sort.isDescending ? 'descending' : 'ascending') : undefined
                }
                className={cellClass(column, columns, 'h-9 truncate text-xs font-medium text-ink-soft')}
              >
                {column.isAction ? (
                  <span className="sr-only">Actions</span>
                ) : (sortable?.includes(column.id) ?? true) ? (
                  <SortButton column={column} sort={sort} onSort={onSort} />
                ) : (
                  column.header
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Space heightPx={first?.start ?? 0} columnCount={columns.length} />
          {items.map(({ index }) => {
            const row = rows[index]
            if (row === undefined) return null
            return (
              <TableRow key={rowId(row)} row={row} position={index + 1} columns={columns} onOpen={onOpen} />
            )
          })}
          <Space heightPx={virtual.getTotalSize() - (last?.end ?? 0)} columnCount={columns.length} />
        </tbody>
      </table>
      {isLoadingMore && (
        <p role="status" className="px-4 py-2 text-xs text-ink-faint">
          Loading more…
        </p>
      )}
    </div>
  )
}

interface SortButtonProps<Row> {
  readonly column: Column<Row>
  readonly sort: TableState['sort']
  readonly onSort: (column: string) => void
}

function SortButton<Row>({ column, sort, onSort }: SortButtonProps<Row>) {
  return (
    <button
      type="button"
      onClick={() => onSort(column.id)}
      className="inline-flex max-w-full items-center gap-1 hover:text-ink"
    >
      <span className="truncate">{column.header}</span>
      {sort?.column === column.id && (
        <Icon name={sort.isDescending ? 'down' : 'up'} className="size-3 shrink-0 text-accent" />
      )}
    </button>
  )
}

interface TableRowProps<Row> extends Pick<DrawnTableProps<Row>, 'columns' | 'onOpen'> {
  readonly row: Row
  readonly position: number
}

function PlainTableRow<Row>({ row, position, columns, onOpen }: TableRowProps<Row>) {
  return (
    <tr
      aria-rowindex={position}
      onClick={onOpen && (() => onOpen(row))}
      className={classNames(
        'border-b border-line last:border-b-0',
        onOpen && 'cursor-pointer hover:bg-sunken',
      )}
    >
      {columns.map((column) => (
        <td key={column.id} className={cellClass(column, columns, 'h-10 truncate')}>
          {column.render(row)}
        </td>
      ))}
    </tr>
  )
}

// Rows that stay in view are not rendered again while the table scrolls. The type of a memoised component has no type parameters.
const TableRow = memo(PlainTableRow) as typeof PlainTableRow

/** From this number of columns on, a name gets less room on a phone. */
const MANY_COLUMNS = 4

function cellClass<Row>(
  { align, isMinor, width }: Column<Row>,
  columns: readonly Column<Row>[],
  more: string,
): string {
  const isCramped = columns.filter((column) => !column.isMinor).length >= MANY_COLUMNS
  return classNames(
    'px-3 first:pl-4 last:pr-4 max-sm:px-2',
    align === 'right' ? 'tabular text-right' : 'text-left',
    isMinor && 'max-md:hidden',
    // On a phone columns are as wide as their content, and a long name would push the others out of view.
    width === undefined && (isCramped ? 'max-sm:max-w-[24vw]' : 'max-sm:max-w-[45vw]'),
    more,
  )
}

/** Holds the room of the rows that are not rendered. */
function Space({ heightPx, columnCount }: { readonly heightPx: number; readonly columnCount: number }) {
  if (heightPx <= 0) return null
  return (
    <tr aria-hidden="true">
      <td colSpan={columnCount} style={{ height: heightPx }} />
    </tr>
  )
}
