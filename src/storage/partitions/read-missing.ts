import type { Queryable } from '../database.ts'
import { listMissing } from './make-partitions.ts'
import { PARTITIONED_TABLES } from './partitioned-tables.ts'
import { readPartitions } from './read-partitions.ts'

/** Returns how many partitions each table lacks. A table that is not moved yet lacks none. */
export async function readMissingPartitions(queryable: Queryable): Promise<Map<string, number>> {
  const { nowMs, tables } = await readPartitions(
    queryable,
    PARTITIONED_TABLES.map(({ name }) => name),
  )
  const missing = new Map<string, number>()
  for (const table of PARTITIONED_TABLES) {
    const partitions = tables.find(({ name }) => name === table.name)?.partitions ?? null
    const count = partitions === null ? 0 : listMissing(table, partitions, nowMs).length
    if (count > 0) missing.set(table.name, count)
  }
  return missing
}
