import type { Client } from 'pg'
import { SCHEMA } from './schema.ts'

export interface CatalogTable {
  readonly name: string
  /** Without generated columns, which cannot be loaded. */
  readonly columns: readonly string[]
}

/** Returns all tables of the schema except the table of migrations, and none of their partitions. Each table follows the tables it references. */
export async function readTables(client: Client): Promise<CatalogTable[]> {
  const { rows: tables } = await client.query<{ name: string; columns: string[]; parents: string[] }>(
    `SELECT c.relname AS name,
      ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0
        AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum) AS columns,
      ARRAY(SELECT p.relname::text FROM pg_constraint f JOIN pg_class p ON p.oid = f.confrelid
        WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid) AS parents
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'migrations' ORDER BY c.relname`,
    [SCHEMA],
  )
  return orderByDependency(tables).map(({ name, columns }) => ({ name, columns }))
}

/**
 * Orders tables after the tables they reference. Tables of a cycle come last, by name; loading them needs deferrable constraints.
 */
export function orderByDependency<Table extends { name: string; parents: readonly string[] }>(
  tables: readonly Table[],
): Table[] {
  const ordered: Table[] = []
  let remaining = [...tables]
  while (remaining.length > 0) {
    const names = new Set(remaining.map((table) => table.name))
    const free = remaining.filter((table) => !table.parents.some((parent) => names.has(parent)))
    if (free.length === 0) return [...ordered, ...remaining]
    ordered.push(...free)
    remaining = remaining.filter((table) => !free.includes(table))
  }
  return ordered
}

export async function readSequenceNames(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind = 'S' ORDER BY c.relname`,
    [SCHEMA],
  )
  return rows.map(({ name }) => name)
}
