import type { Queryable } from '../database.ts'
import { hashOfRow, MS_OF_ID, type ArchivedTable } from './archived-tables.ts'
import { findUnarchived } from './find-unarchived.ts'

interface DroppedRows {
  /** SQL: the rows, as a FROM item. */
  readonly rows: string
  /** Their ids are from before. */
  readonly untilMs: number
}

/**
 * Returns whether every row is in a complete archive, and notes that these archives are the only place of the rows from now on. Ask in
 * the transaction that drops the rows, when nobody adds one. A month with other rows than its archive is archived again.
 */
export async function mayDrop(
  transaction: Queryable,
  table: ArchivedTable,
  { rows, untilMs }: DroppedRows,
): Promise<boolean> {
  // Reading all rows is worth it only then.
  if ((await findUnarchived(transaction, table, untilMs)).length > 0) return false
  const unarchived = await transaction.query<{ archive_id: string | null }>(compareMonths(table, rows), [
    table.name,
    table.schemaVersion,
  ])
  const different = unarchived.flatMap(({ archive_id: id }) => (id === null ? [] : [id]))
  if (different.length > 0)
    await transaction.query(`UPDATE archives SET status = 'stale' WHERE id = ANY ($1::uuid[])`, [different])
  if (unarchived.length > 0) return false
  await transaction.query(
    `UPDATE archives SET dropped_at = now() WHERE ${IS_OPEN}
       AND month IN (SELECT ${MONTH} FROM ${rows} GROUP BY 1)`,
    [table.name, table.schemaVersion],
  )
  return true
}

/** The month of a row, which is that of its id. */
const MONTH = `date_trunc('month', to_timestamp(${MS_OF_ID} / 1000.0) AT TIME ZONE 'UTC')::date`

const IS_OPEN = `source = $1 AND schema_version = $2 AND status = 'complete' AND dropped_at IS NULL`

/** SQL: the months that are in no archive, or in one with other rows. */
function compareMonths(table: ArchivedTable, rows: string): string {
  return `
    WITH live AS (
      SELECT ${MONTH} AS month, count(*) AS rows, sum(${hashOfRow(table)}) AS digest FROM ${rows} GROUP BY 1
    ), open AS (SELECT * FROM archives WHERE ${IS_OPEN})
    SELECT open.id AS archive_id FROM live LEFT JOIN open USING (month)
    WHERE open.id IS NULL OR open.rows <> live.rows OR open.digest <> live.digest`
}
