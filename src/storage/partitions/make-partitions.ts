import { escapeIdentifier, type Client } from 'pg'
import { firstIdAt } from '../../kernel/identifiers.ts'
import type { Queryable } from '../database.ts'
import { SCHEMA } from '../schema.ts'
import type { PartitionedTable } from './partitioned-tables.ts'
import { hasSpan, type Partition } from './read-partitions.ts'
import { changeTables, queryableOf, requireNoBackup } from './short-transaction.ts'
import { boundsOf, namePartition, spansFrom, type Span } from './step.ts'

/** The partition of all ids that belong to no other one. */
export function nameDefault(table: string): string {
  return `${table}_other`
}

/** The steps that should have a partition now, and have none. */
export function listMissing(
  { step, ahead }: PartitionedTable,
  partitions: readonly Partition[],
  nowMs: number,
): Span[] {
  return spansFrom(step, nowMs, ahead + 1).filter((span) => !hasSpan(partitions, span))
}

/**
 * Makes partitions, each in a transaction of its own. A step whose rows are in the default partition already keeps them there. Returns
 * the number of partitions that were made.
 */
export async function makePartitions(
  session: Client,
  table: PartitionedTable,
  missing: readonly Span[],
): Promise<number> {
  let made = 0
  for (const span of missing) {
    if (await hasStrays(queryableOf(session), table.name, span)) continue
    await changeTables(session, async (queryable) => {
      await requireNoBackup(queryable)
      const name = namePartition(table.name, table.step, span)
      // Attaching locks the table less than creating the partition in it.
      await queryable.query(
        `CREATE TABLE ${name} (${likeTable(table.name)}) ${await readOptions(queryable, nameDefault(table.name))}`,
      )
      await queryable.query(`ALTER TABLE ${table.name} ATTACH PARTITION ${name} ${boundsOf(span)}`)
    })
    made += 1
  }
  return made
}

/** SQL: columns and checks as those of another table. */
export function likeTable(name: string): string {
  return `LIKE ${escapeIdentifier(name)} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMMENTS`
}

/** SQL: the storage parameters of a table, for a new one. */
export async function readOptions(queryable: Queryable, name: string): Promise<string> {
  const [row] = await queryable.query<{ options: string | null }>(
    `SELECT array_to_string(reloptions, ', ') AS options FROM pg_class WHERE oid = $1::regclass`,
    [`${SCHEMA}.${name}`],
  )
  const options = row?.options ?? ''
  return options === '' ? '' : `WITH (${options})`
}

async function hasStrays(queryable: Queryable, table: string, { fromMs, toMs }: Span): Promise<boolean> {
  const rows = await queryable.query(
    `SELECT 1 AS one FROM ${nameDefault(table)} WHERE id >= $1 AND id < $2 LIMIT 1`,
    [firstIdAt(fromMs), firstIdAt(toMs)],
  )
  return rows.length > 0
}
