import type { Queryable } from '../database.ts'
import type { MediaStore } from '../media-store/media-store.ts'
import { hashOfRow, MS_OF_ID, type ArchivedTable } from './archived-tables.ts'
import { findUnarchived } from './find-unarchived.ts'
import { hasFiles } from './has-files.ts'
import { listArchives } from './stored-archives.ts'

interface DroppedRows {
  /** SQL: the rows, as a FROM item. */
  readonly rows: string
  /** Their ids are from before. */
  readonly untilMs: number
}

/**
 * Returns whether every row is in a complete archive whose files are there, and notes that these archives are the only place of the rows
 * from now on. Ask in the transaction that drops the rows, when nobody adds one. A month with other rows than its archive is archived
 * again, and so is one whose files were lost or are in another store.
 */
export async function mayDrop(
  { transaction, store }: { readonly transaction: Queryable; readonly store: MediaStore },
  table: ArchivedTable,
  { rows, untilMs }: DroppedRows,
): Promise<boolean> {
  // Reading all rows is worth it only then.
  if ((await findUnarchived(transaction, table, untilMs)).length > 0) return false
  const months = await transaction.query<{ archive_id: string | null; is_same: boolean }>(
    compareMonths(table, rows),
    [table.name, table.schemaVersion],
  )
  const archives = new Map(
    (await listArchives(transaction, { table: table.name })).map((archive) => [archive.id, archive]),
  )
  const whole: string[] = []
  const stale: string[] = []
  for (const { archive_id: id, is_same: isSame } of months) {
    const archive = archives.get(id ?? '')
    if (archive === undefined) continue
    const isWhole = isSame && (await hasFiles({ database: transaction, store }, archive))
    if (isWhole) whole.push(archive.id)
    else stale.push(archive.id)
  }
  if (stale.length > 0)
    await transaction.query(`UPDATE archives SET status = 'stale' WHERE id = ANY ($1::uuid[])`, [stale])
  if (whole.length < months.length) return false
  await transaction.query('UPDATE archives SET dropped_at = now() WHERE id = ANY ($1::uuid[])', [whole])
  return true
}

/**
 * Notes that archives are the only place of rows that are dropped whether they are archived or not, so that nobody takes these archives
 * for replaceable. Returns their ids.
 */
export async function noteDropped(
  transaction: Queryable,
  { name }: ArchivedTable,
  { rows }: Pick<DroppedRows, 'rows'>,
): Promise<string[]> {
  const isOpen = `source = $1 AND manifest_sha256 IS NOT NULL AND dropped_at IS NULL`
  // Reading all rows is worth it only then.
  const known = await transaction.query(`SELECT FROM archives WHERE ${isOpen} LIMIT 1`, [name])
  if (known.length === 0) return []
  const noted = await transaction.query<{ id: string }>(
    `UPDATE archives SET status = 'complete', dropped_at = now() WHERE ${isOpen}
       AND month IN (SELECT ${MONTH} FROM ${rows} GROUP BY 1) RETURNING id`,
    [name],
  )
  return noted.map(({ id }) => id)
}

/** The month of a row, which is that of its id. */
const MONTH = `date_trunc('month', to_timestamp(${MS_OF_ID} / 1000.0) AT TIME ZONE 'UTC')::date`

/** SQL: the months of the rows, with their archives and whether those have the same rows. */
function compareMonths(table: ArchivedTable, rows: string): string {
  return `
    WITH live AS (
      SELECT ${MONTH} AS month, count(*) AS rows, sum(${hashOfRow(table)}) AS digest FROM ${rows} GROUP BY 1
    ), open AS (
      SELECT * FROM archives WHERE source = $1 AND schema_version = $2 AND status = 'complete' AND dropped_at IS NULL
    )
    SELECT open.id AS archive_id, coalesce(open.rows = live.rows AND open.digest = live.digest, false) AS is_same
    FROM live LEFT JOIN open USING (month)`
}
