import { firstIdAt, timeOfId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../database.ts'
import { findEntryIds } from './find-entry-ids.ts'
import type { Month } from './month.ts'

/** Text is UTF-8, `integer` has 64 bits, `time` is microseconds since the epoch in UTC. */
type ColumnType = 'text' | 'integer' | 'time'

export interface ArchivedColumn {
  readonly name: string
  readonly type: ColumnType
  readonly isOptional?: true
  /** SQL of its value, if it is not the column itself as text or integer. */
  readonly sql?: string
}

/** One row of an archive. Integers and times are bigints. */
export type ArchivedRow = Readonly<Record<string, string | bigint | null>>

/** A table whose closed months are written to files. */
export interface ArchivedTable {
  readonly name: string
  /** Raised with any change of the columns, so that months with other columns are written again before they are dropped. */
  readonly schemaVersion: number
  readonly columns: readonly ArchivedColumn[]
  /** Rows of one read and of one row group, which are in memory at once. */
  readonly stepRows: number
  /** Rows of a file: what the end of a file lists, and what is repeated after a process was killed. */
  readonly partRows: number
  /** Columns that are added up, for the comparison of rows and files. */
  readonly summed: readonly string[]
  /** What a row adds to the sum of its account. */
  readonly amountOf: (row: ArchivedRow) => bigint
  /** The order of rows: SQL for the columns and for their parameters, and the key before the first row. */
  readonly key: { readonly columns: readonly string[]; readonly types: readonly string[] }
  readonly keyBeforeFirst: readonly string[]
  /** SQL: the condition of the rows of a month, with the values of `boundsOf` as `$1` and following. */
  readonly isOfMonth: string
  readonly boundsOf: (queryable: Queryable, month: Month) => Promise<readonly unknown[]>
  /** The time of the first row from this time on, or null. */
  readonly findFirstMs: (queryable: Queryable, sinceMs: number) => Promise<number | null>
}

const NO_ID = '00000000-0000-0000-0000-000000000000'

const text = (name: string): ArchivedColumn => ({ name, type: 'text' })
const integer = (name: string): ArchivedColumn => ({ name, type: 'integer' })
const optional = (column: ArchivedColumn): ArchivedColumn => ({ ...column, isOptional: true })
const time = (name: string): ArchivedColumn => ({
  name,
  type: 'time',
  sql: `(extract(epoch FROM ${name}) * 1000000)::bigint`,
})

/** SQL: the milliseconds that an id begins with. */
export const MS_OF_ID = `('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint`

export const ARCHIVED_USAGE: ArchivedTable = {
  name: 'usage_records',
  schemaVersion: 1,
  columns: [
    text('account_id'),
    text('id'),
    text('key_id'),
    text('environment'),
    text('operation'),
    text('model'),
    text('provider'),
    text('outcome'),
    integer('prompt_tokens'),
    integer('cached_tokens'),
    integer('completion_tokens'),
    integer('reasoning_tokens'),
    integer('cost_nano_usd'),
    integer('promotional_nano_usd'),
    integer('latency_ms'),
    optional(integer('first_token_ms')),
    time('created_at'),
    integer('uncovered_nano_usd'),
    integer('cache_write_tokens'),
    optional(text('details')),
    optional({ name: 'labels', type: 'text', sql: 'to_json(labels)::text' }),
    integer('units'),
    optional(integer('vendor_cost_nano_usd')),
  ],
  stepRows: 5_000,
  partRows: 1_000_000,
  summed: [
    'prompt_tokens',
    'cached_tokens',
    'cache_write_tokens',
    'completion_tokens',
    'reasoning_tokens',
    'cost_nano_usd',
    'promotional_nano_usd',
    'uncovered_nano_usd',
  ],
  amountOf: (row) => integerOf(row, 'cost_nano_usd'),
  key: { columns: ['account_id', 'id'], types: ['uuid', 'uuid'] },
  keyBeforeFirst: [NO_ID, NO_ID],
  isOfMonth: 'id >= $1::uuid AND id < $2::uuid',
  boundsOf: async (_queryable, { fromMs, toMs }) => [firstIdAt(fromMs), firstIdAt(toMs)],
  findFirstMs: async (queryable, sinceMs) => {
    const [row] = await queryable.query<{ id: string }>(
      'SELECT id FROM usage_records WHERE id >= $1 ORDER BY id LIMIT 1',
      [firstIdAt(sinceMs)],
    )
    return row === undefined ? null : timeOfId(row.id)
  },
}

const ARCHIVED_LEDGER: ArchivedTable = {
  name: 'ledger_entries',
  schemaVersion: 1,
  columns: [
    integer('id'),
    text('key'),
    optional(text('account_id')),
    text('book'),
    text('kind'),
    integer('amount_nano_usd'),
    optional(text('reason')),
    time('created_at'),
    optional(text('charges')),
  ],
  // A charge has up to thousands of parts.
  stepRows: 500,
  partRows: 250_000,
  summed: ['amount_nano_usd'],
  amountOf: (row) => (row['book'] === 'credit' ? integerOf(row, 'amount_nano_usd') : 0n),
  key: { columns: ['id'], types: ['bigint'] },
  keyBeforeFirst: ['0'],
  isOfMonth: `id >= $1::bigint AND id < $2::bigint AND created_at >= to_timestamp($3::float8 / 1000) AND created_at < to_timestamp($4::float8 / 1000)`,
  boundsOf: findEntryIds,
  findFirstMs: async (queryable, sinceMs) => {
    const [row] = await queryable.query<{ ms: number }>(
      `SELECT (extract(epoch FROM day) * 1000)::float8 AS ms FROM ledger_by_day
       WHERE day >= (to_timestamp($1::float8 / 1000) AT TIME ZONE 'UTC')::date ORDER BY day LIMIT 1`,
      [sinceMs],
    )
    return row?.ms ?? null
  },
}

export const ARCHIVED_TABLES: readonly ArchivedTable[] = [ARCHIVED_USAGE, ARCHIVED_LEDGER]

export function findArchivedTable(name: string): ArchivedTable | undefined {
  return ARCHIVED_TABLES.find((table) => table.name === name)
}

/** Throws if the column has no integer. */
export function integerOf(row: ArchivedRow, column: string): bigint {
  const value = row[column]
  if (typeof value !== 'bigint') throw new Error(`${column} of an archived row is not an integer`)
  return value
}

/** SQL: a hash of all columns of a row. It depends on no setting of the session. */
export function hashOfRow({ columns }: ArchivedTable): string {
  return `hash_record_extended(ROW(${columns.map(({ name }) => name).join(', ')}), 0)`
}
