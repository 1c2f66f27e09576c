import type { Queryable } from '../database.ts'
import type { ArchivedTable } from './archived-tables.ts'
import { monthAt, type Month } from './month.ts'
import { listArchives } from './stored-archives.ts'

/** A century. */
const MONTHS_MAX = 1_200

/** The months that end before this time, have rows, and are in no complete archive of these. Oldest first. Reads one row of each month. */
export async function findUnarchived(
  queryable: Queryable,
  table: ArchivedTable,
  untilMs: number,
): Promise<Month[]> {
  const archived = new Set(
    (await listArchives(queryable, { table: table.name }))
      .filter(({ status, droppedAt }) => status === 'complete' && droppedAt === null)
      .filter(({ schemaVersion }) => schemaVersion === table.schemaVersion)
      .map(({ month }) => month.name),
  )
  const missing: Month[] = []
  let sinceMs = 0
  for (let count = 0; count < MONTHS_MAX; count += 1) {
    const firstMs = await table.findFirstMs(queryable, sinceMs)
    if (firstMs === null) return missing
    const month = monthAt(firstMs)
    if (month.toMs > untilMs) return missing
    if (!archived.has(month.name)) missing.push(month)
    sinceMs = month.toMs
  }
  return missing
}
