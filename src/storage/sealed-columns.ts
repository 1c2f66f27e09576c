import type { Keyring } from '../kernel/seal-text.ts'
import type { Database, Queryable } from './database.ts'

/** A column whose bytes are sealed with the gateway's key. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The columns of the primary key with their types. */
  readonly key: Readonly<Record<string, 'uuid' | 'text'>>
  /** The columns that `placeOf` is given, as texts. */
  readonly boundTo: readonly string[]
  /** Returns what the bytes of a row are bound to. */
  readonly placeOf: (...values: string[]) => string
}

export interface Resealed {
  /** How many secrets were sealed anew. */
  readonly resealed: number
  /** How many secrets no key of this gateway opens. */
  readonly unreadable: number
}

interface SealedRow {
  readonly key: readonly string[]
  readonly bound: readonly string[]
  readonly sealed: Buffer
}

/** A stored body may have a few hundred kilobytes. */
const BATCH_ROWS = 50

/** Seals with the current key what another one has sealed, in small steps, while the gateway runs. */
export async function resealColumn(
  database: Database,
  keyring: Keyring,
  sealedColumn: SealedColumn,
): Promise<Resealed> {
  const { placeOf } = sealedColumn
  const { readFirst, readNext, write } = statementsFor(sealedColumn)
  let resealed = 0
  let unreadable = 0
  let rows = await database.query<SealedRow>(readFirst)
  while (rows.length > 0) {
    for (const { key, bound, sealed } of rows) {
      const place = placeOf(...bound)
      if (keyring.isCurrent(sealed, place)) continue
      const bytes = keyring.openBytes(sealed, place)
      if (bytes === null) unreadable += 1
      else resealed += (await database.query(write, [keyring.sealBytes(bytes, place), sealed, ...key])).length
    }
    rows = rows.length < BATCH_ROWS ? [] : await database.query<SealedRow>(readNext, rows.at(-1)?.key)
  }
  return { resealed, unreadable }
}

/** Counts secrets that no key opens, among the first rows of a column. Changes nothing. */
export async function countUnreadable(
  queryable: Queryable,
  keyring: Pick<Keyring, 'openBytes'>,
  sealedColumn: SealedColumn,
): Promise<number> {
  const rows = await queryable.query<SealedRow>(statementsFor(sealedColumn).readFirst)
  return rows.filter(
    ({ bound, sealed }) => keyring.openBytes(sealed, sealedColumn.placeOf(...bound)) === null,
  ).length
}

function statementsFor({ table, column, key, boundTo }: SealedColumn) {
  const names = Object.keys(key)
  const order = names.join(', ')
  const valuesFrom = (first: number) =>
    Object.values(key)
      .map((type, index) => `$${index + first}::${type}`)
      .join(', ')
  const read = (condition: string) => `
    SELECT ${arrayOf(names)} AS key, ${arrayOf(boundTo)} AS bound, ${column} AS sealed FROM ${table}
    WHERE ${column} IS NOT NULL ${condition} ORDER BY ${order} LIMIT ${BATCH_ROWS}`
  return {
    readFirst: read(''),
    readNext: read(`AND (${order}) > (${valuesFrom(1)})`),
    // What was changed after it was read is sealed with the current key.
    write: `UPDATE ${table} SET ${column} = $1 WHERE ${column} = $2 AND (${order}) = (${valuesFrom(3)}) RETURNING 1 AS one`,
  }
}

function arrayOf(names: readonly string[]): string {
  return `ARRAY[${names.map((name) => `${name}::text`).join(', ')}]`
}
