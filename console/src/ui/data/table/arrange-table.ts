import { writeCsvLines } from '../write-csv.ts'
import type { Column } from './column.ts'
import type { TableState } from './table-state.ts'

/** The columns that a person sees: those they chose, in the order of the table. */
export function shownColumns<Row>(
  columns: readonly Column<Row>[],
  { columns: chosen }: TableState,
  isNarrow: boolean,
): readonly Column<Row>[] {
  const shown = columns.filter(
    ({ id, isAction, isHiddenAtFirst, isMinor }) =>
      isAction ?? chosen?.includes(id) ?? !(isHiddenAtFirst || (isNarrow && isMinor)),
  )
  if (shown.every(({ isAction }) => isAction)) return columns
  // A chosen column is shown on a narrow page too.
  return chosen === null ? shown : shown.map((column) => ({ ...column, isMinor: false }))
}

/** Rows in the order of a column. Rows without a value come last in both directions. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { sort }: TableState,
): readonly Row[] {
  const value = columns.find(({ id }) => id === sort?.column)?.value
  if (!sort || value === undefined) return rows
  const direction = sort.isDescending ? -1 : 1
  const keyed = rows.map((row) => ({ row, key: value(row) ?? null }))
  return keyed
    .sort((a, b) => {
      if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null)
      return direction * compare(a.key, b.key)
    })
    .map(({ row }) => row)
}

const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

function compare(a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : COLLATOR.compare(String(a), String(b))
}

/** All columns of data, also those that are not shown. */
export function tableCsv<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const exported = columns.flatMap(({ id, fileHeader = id, value }) => (value ? [{ fileHeader, value }] : []))
  const lines = rows.map((row) => exported.map(({ value }) => value(row)))
  return writeCsvLines([exported.map(({ fileHeader }) => fileHeader), ...lines])
}
