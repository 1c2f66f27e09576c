import { createHash } from 'node:crypto'
import type { Queryable } from '../database.ts'
import type { MediaStore } from '../media-store/media-store.ts'
import { hashOfRow, integerOf, type ArchivedRow, type ArchivedTable } from './archived-tables.ts'
import { namePart, type ArchiveName } from './archive-store.ts'
import { checkPart } from './check-part.ts'
import type { StoredPart } from './stored-archives.ts'
import { RowTotals, type AccountSum } from './row-totals.ts'
import { writeParquet } from './write-parquet.ts'

export interface PartOrder {
  readonly archive: ArchiveName
  readonly part: number
  /** The key of the row before the first one. */
  readonly afterKey: readonly string[]
  /** Values of the table's condition for the month. */
  readonly bounds: readonly unknown[]
  readonly rowsMax: number
  /** Rows of one read, which become a row group. */
  readonly stepRows: number
  /** Called after each read with the time it took. Throws if the work is to end. */
  readonly rest: (workedMs: number) => Promise<void>
}

export interface WrittenPart extends StoredPart {
  readonly accounts: ReadonlyMap<string, AccountSum>
}

/** Writes the next rows of a month to a file, and reads it back. Returns null if there are none. */
export async function writePart(
  { database, store }: { readonly database: Queryable; readonly store: MediaStore },
  table: ArchivedTable,
  order: PartOrder,
): Promise<WrittenPart | null> {
  const totals = new RowTotals(table)
  const file = createHash('sha256')
  let digest = 0n
  let lastKey = order.afterKey
  const batches = readSteps(database, table, order, (rows) => {
    for (const row of rows) digest += integerOf(row, ROW_HASH)
    totals.add(rows)
    lastKey = keyOf(table, rows.at(-1)) ?? lastKey
  })
  const first = await batches.next()
  if (first.done === true) return null
  const name = namePart(order.archive, order.part)
  const bytesOf = async function* (): AsyncGenerator<Uint8Array, void> {
    for await (const bytes of writeParquet(table, chain(first.value, batches))) {
      file.update(bytes)
      yield bytes
    }
  }
  const { bytes } = await store.put(name, bytesOf(), 'application/vnd.apache.parquet')
  const recorded = { ...totals.finish(), bytes, sha256: file.digest('hex') }
  const [difference] = await checkPart({ store, name }, table, recorded)
  if (difference !== undefined) throw new Error(`${name} cannot be read back: ${difference}`)
  return { part: order.part, ...recorded, digest: String(digest), lastKey, accounts: totals.accounts }
}

const ROW_HASH = 'hash_of_row'

/** Reads the rows in steps, each with a statement of its own, so that no snapshot is kept for long. */
async function* readSteps(
  database: Queryable,
  table: ArchivedTable,
  { afterKey, bounds, rowsMax, stepRows, rest }: PartOrder,
  onRead: (rows: readonly ArchivedRow[]) => void,
): AsyncGenerator<readonly ArchivedRow[], void> {
  const sql = selectStep(table, bounds.length)
  let key = afterKey
  for (let left = rowsMax; left > 0;) {
    const startedMs = performance.now()
    const limit = Math.min(stepRows, left)
    const rows = await database.query<ArchivedRow>(sql, [...bounds, ...key, limit])
    if (rows.length === 0) return
    onRead(rows)
    yield rows
    await rest(performance.now() - startedMs)
    if (rows.length < limit) return
    key = keyOf(table, rows.at(-1)) ?? key
    left -= rows.length
  }
}

/** SQL. The values are the bounds of the month, the key of the row before, and how many rows. */
function selectStep(table: ArchivedTable, bounds: number): string {
  const { name, columns, key, isOfMonth } = table
  const selected = columns.map(
    (column) =>
      `${column.sql ?? `${column.name}::${column.type === 'integer' ? 'bigint' : 'text'}`} AS ${column.name}`,
  )
  const before = key.types.map((type, index) => `$${bounds + index + 1}::${type}`)
  return `SELECT ${selected.join(', ')}, ${hashOfRow(table)} AS ${ROW_HASH} FROM ${name}
    WHERE ${isOfMonth} AND (${key.columns.join(', ')}) > (${before.join(', ')})
    ORDER BY ${key.columns.map((column) => `${name}.${column}`).join(', ')} LIMIT $${bounds + before.length + 1}`
}

function keyOf({ key }: ArchivedTable, row: ArchivedRow | undefined): readonly string[] | null {
  return row === undefined ? null : key.columns.map((column) => String(row[column]))
}

async function* chain<Item>(first: Item, rest: AsyncIterable<Item>): AsyncGenerator<Item, void> {
  yield first
  yield* rest
}
