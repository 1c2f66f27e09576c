import { formatCount } from '../../format/format-count.ts'
import { Button, buttonClass } from '../../forms/button.tsx'
import { IconButton } from '../../forms/icon-button.tsx'
import { Icon } from '../../icon.tsx'
import { Menu, MenuCheck, MenuItem, MenuLine } from '../../overlays/menu.tsx'
import type { Column } from './column.ts'
import type { TableState } from './table-state.ts'
import { LOADED_ROWS_MAX, type MoreRows, type TableTools } from './table-tools.ts'

interface TableToolBarProps<Row> {
  readonly label: string
  readonly tools: TableTools
  readonly columns: readonly Column<Row>[]
  readonly shown: readonly Column<Row>[]
  readonly rowCount: number
  readonly more: MoreRows | undefined
  readonly sort: TableState['sort']
  readonly isSaving: boolean
  readonly onColumns: (ids: readonly string[]) => void
  readonly onReset: () => void
  readonly onSave: () => void
}

/** A table with fewer rows has its tools behind one small button. */
const TOOL_BAR_ROWS_MIN = 2

export function TableToolBar<Row>(props: TableToolBarProps<Row>) {
  const { label, tools, isSaving, onSave } = props
  const fileLabel = `${label}: all rows as CSV`
  const isSmall = props.rowCount < TOOL_BAR_ROWS_MIN && props.more === undefined
  if (isSmall)
    return (
      <div className="-mt-2 flex justify-end">
        <Menu
          trigger={<IconButton icon="settings" label={`Columns and file of ${label}`} className="size-7" />}
        >
          <ColumnChoices {...props} />
          <MenuItem
            icon="download"
            onSelect={tools.fileUrl === undefined ? onSave : () => followDownload(tools.fileUrl ?? '')}
          >
            {fileLabel}
          </MenuItem>
        </Menu>
      </div>
    )
  return (
    <div className="-mt-2 flex flex-wrap items-center justify-end gap-x-2">
      <p role="status" className="mr-auto text-xs text-ink-faint">
        {describeOrder(props)}
      </p>
      <Menu trigger={<Button kind="quiet">Columns</Button>}>
        <ColumnChoices {...props} />
      </Menu>
      {tools.fileUrl === undefined ? (
        <Button kind="quiet" icon="download" aria-label={fileLabel} isBusy={isSaving} onClick={onSave}>
          CSV
        </Button>
      ) : (
        <a href={tools.fileUrl} download aria-label={fileLabel} className={buttonClass('quiet')}>
          <Icon name="download" />
          CSV
        </a>
      )}
    </div>
  )
}

function ColumnChoices<Row>({ columns, shown, onColumns, onReset }: TableToolBarProps<Row>) {
  const shownIds = new Set(shown.map(({ id }) => id))
  const choices = columns.filter(({ isAction }) => !isAction)
  const toggle = (id: string): void => {
    const next = choices.filter((column) => shownIds.has(column.id) !== (column.id === id))
    if (next.length > 0) onColumns(next.map((column) => column.id))
  }
  return (
    <>
      {choices.map(({ id, header }) => (
        <MenuCheck key={id} isChecked={shownIds.has(id)} onChange={() => toggle(id)}>
          {header}
        </MenuCheck>
      ))}
      <MenuLine />
      <MenuItem icon="retry" onSelect={onReset}>
        Reset columns and order
      </MenuItem>
    </>
  )
}

function followDownload(url: string): void {
  const link = document.createElement('a')
  link.href = url
  link.download = ''
  link.click()
}

/** Says so where an order is not that of all rows. */
function describeOrder<Row>({ more, columns, tools, ...props }: TableToolBarProps<Row>): string {
  const loaded = formatCount(more?.loadedCount ?? 0)
  if (props.isSaving && more !== undefined) return `Loading all rows for the file: ${loaded} so far`
  const column = columns.find(({ id }) => id === props.sort?.column)
  if (column === undefined || props.sort === null) return tools.part ? `Only ${tools.part}` : ''
  if (more === undefined || tools.order !== undefined) {
    const order = `Sorted by ${column.header}, ${props.sort.isDescending ? 'descending' : 'ascending'}`
    return tools.part === undefined ? order : `${order}. Only ${tools.part}`
  }
  if (more.loadedCount < LOADED_ROWS_MAX) return `Loading all rows to sort them: ${loaded} so far`
  return `Not sorted: there are more than ${formatCount(LOADED_ROWS_MAX)} rows. Narrow them with filters.`
}
