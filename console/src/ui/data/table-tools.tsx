import { Button, buttonClass } from '../forms/button.tsx'
import { Icon } from '../icon.tsx'
import { Menu, MenuCheck, MenuItem, MenuLine } from '../overlays/menu.tsx'
import { shownColumns, tableCsv } from './arrange-table.ts'
import type { Column } from './column.ts'
import { downloadCsv } from './download-csv.ts'
import type { TableState } from './table-state.ts'

/** What a table lets people arrange and take along. */
export interface TableTools {
  /** Names the table in the address. Unique on its page. */
  readonly id: string
  /** Where the API has all rows as a file. Without it, the file has the rows of the table. Null: there is no file of it. */
  readonly fileUrl?: string | null | undefined
  /** Where the API sorts all rows, so that the table sorts none. */
  readonly order?: TableOrder | undefined
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
}

interface TableToolBarProps<Row> {
  readonly label: string
  readonly tools: TableTools
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly more: MoreRows | undefined
  readonly state: TableState
  readonly onChange: (state: TableState) => void
}

/** Above this, rows are not loaded for sorting. */
export const SORTED_ROWS_MAX = 5_000

export function TableToolBar<Row>(props: TableToolBarProps<Row>) {
  const { label, tools, columns, rows, more, state, onChange } = props
  const shown = new Set(shownColumns(columns, state).map(({ id }) => id))
  const toggle = (id: string): void => {
    const next = columns.filter((column) => (column.id === id ? !shown.has(id) : shown.has(column.id)))
    if (next.length > 0) onChange({ ...state, columns: next.map((column) => column.id) })
  }
  const canSave = columns.some(({ value }) => value !== undefined)
  return (
    <div className="flex flex-wrap items-center justify-end gap-2">
      <p role="status" className="mr-auto text-xs text-ink-faint">
        {describeOrder(props)}
      </p>
      <Menu trigger={<Button kind="quiet">Columns</Button>}>
        {columns.map(({ id, header }) => (
          <MenuCheck key={id} isChecked={shown.has(id)} onChange={() => toggle(id)}>
            {header}
          </MenuCheck>
        ))}
        <MenuLine />
        <MenuItem
          icon="retry"
          onSelect={() => {
            onChange({ sort: null, columns: null })
            tools.order?.onChange(null)
          }}
        >
          In the first order
        </MenuItem>
      </Menu>
      {tools.fileUrl === null ? null : tools.fileUrl === undefined ? (
        canSave &&
        // A file of a part would look like one of all.
        more === undefined && (
          <Button
            kind="quiet"
            icon="download"
            onClick={() => downloadCsv(`${tools.id}.csv`, tableCsv(rows, columns))}
          >
            CSV
          </Button>
        )
      ) : (
        <a
          href={tools.fileUrl}
          download
          aria-label={`All ${label.toLowerCase()} as CSV`}
          className={buttonClass('quiet')}
        >
          <Icon name="download" />
          CSV
        </a>
      )}
    </div>
  )
}

/** Says so where an order is not that of all rows. */
function describeOrder<Row>({ state, rows, more, columns, tools }: TableToolBarProps<Row>): string {
  const sort = tools.order === undefined ? state.sort : tools.order.sort
  const column = columns.find(({ id }) => id === sort?.column)
  if (column === undefined || sort === null) return ''
  if (more === undefined || tools.order !== undefined)
    return `Sorted by ${column.header}, ${sort.isDescending ? 'descending' : 'ascending'}`
  if (rows.length < SORTED_ROWS_MAX) return `Loading all rows to sort them: ${rows.length} so far`
  return `Not sorted: there are more than ${SORTED_ROWS_MAX} rows. Narrow them with filters.`
}
