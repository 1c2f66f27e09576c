import { timeOfId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../database.ts'
import { SCHEMA } from '../schema.ts'
import type { Span } from './step.ts'

export interface Partition {
  readonly name: string
  /** The first one begins at minus infinity. Null: the default partition, of ids of no other one. */
  readonly span: Span | null
}

export interface TableState {
  readonly name: string
  /** Null for a table that is still a plain one. */
  readonly partitions: readonly Partition[] | null
}

/** Returns those of the tables that exist, and the time of the database. */
export async function readPartitions(
  queryable: Queryable,
  names: readonly string[],
): Promise<{ nowMs: number; tables: TableState[] }> {
  const rows = await queryable.query<Row>(READ, [names])
  const [first] = await queryable.query<{ now_ms: number }>(NOW)
  const tables = new Map<string, TableState & { partitions: Partition[] | null }>()
  for (const { name, is_partitioned: isPartitioned, partition, bounds } of rows) {
    const table = tables.get(name) ?? { name, partitions: isPartitioned ? [] : null }
    tables.set(name, table)
    if (partition !== null && bounds !== null)
      table.partitions?.push({ name: partition, span: parseBounds(bounds) })
  }
  return { nowMs: first?.now_ms ?? 0, tables: [...tables.values()] }
}

/** Whether a partition has all of the span. Partitions begin and end with steps. */
export function hasSpan(partitions: readonly Partition[], wanted: Span): boolean {
  return partitions.some(
    ({ span }) => span !== null && span.fromMs <= wanted.fromMs && span.toMs >= wanted.toMs,
  )
}

function parseBounds(bounds: string): Span | null {
  const match = /^FOR VALUES FROM \((MINVALUE|'([0-9a-f-]+)')\) TO \('([0-9a-f-]+)'\)$/.exec(bounds)
  if (match === null) return null
  const [, , from, to = ''] = match
  return { fromMs: from === undefined ? -Infinity : timeOfId(from), toMs: timeOfId(to) }
}

interface Row {
  name: string
  is_partitioned: boolean
  partition: string | null
  bounds: string | null
}

const READ = `
  SELECT parent.relname AS name, parent.relkind = 'p' AS is_partitioned, child.relname AS partition,
    pg_get_expr(child.relpartbound, child.oid) AS bounds
  FROM pg_class parent LEFT JOIN pg_inherits ON inhparent = parent.oid LEFT JOIN pg_class child ON child.oid = inhrelid
  WHERE parent.relnamespace = '${SCHEMA}'::regnamespace AND parent.relkind IN ('r', 'p') AND parent.relname = ANY ($1::text[])
  ORDER BY parent.relname, child.relname`

const NOW = 'SELECT (extract(epoch FROM now()) * 1000)::float8 AS now_ms'
