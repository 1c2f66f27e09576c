import type { Queryable } from '../database.ts'
import { hashOfRow, type ArchivedTable } from './archived-tables.ts'

interface ArchivedRows {
  /** Values of the table's condition for the month. */
  readonly bounds: readonly unknown[]
  readonly rows: number
  readonly digest: string
}

/** Whether the table has exactly the rows that were written. */
export async function hasRows(
  queryable: Queryable,
  table: ArchivedTable,
  { bounds, rows, digest }: ArchivedRows,
): Promise<boolean> {
  const [found] = await queryable.query<{ rows: bigint; digest: string }>(
    `SELECT count(*) AS rows, coalesce(sum(${hashOfRow(table)}), 0)::text AS digest FROM ${table.name} WHERE ${table.isOfMonth}`,
    bounds,
  )
  return Number(found?.rows) === rows && found?.digest === digest
}
