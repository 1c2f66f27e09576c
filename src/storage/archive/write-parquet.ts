import type { SchemaElement } from 'hyparquet'
import type { ArchivedColumn, ArchivedRow, ArchivedTable } from './archived-tables.ts'

/** Longer than any id, so that the statistics of accounts are whole. */
const STATISTICS_BYTES_MAX = 64

/** Columns that readers look for: their statistics tell which groups of rows they need. */
const WITH_STATISTICS = new Set(['account_id', 'created_at'])

/**
 * Yields the bytes of a Parquet file whose row groups are the batches. Only one batch is in memory. The library is loaded on first use.
 */
export async function* writeParquet(
  { name, schemaVersion, columns }: Pick<ArchivedTable, 'name' | 'schemaVersion' | 'columns'>,
  batches: AsyncIterable<readonly ArchivedRow[]>,
): AsyncGenerator<Uint8Array, void> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer')
  const writer = new ByteWriter()
  const parquet = new ParquetWriter({
    writer,
    schema: [{ name, num_children: columns.length }, ...columns.map(describeColumn)],
    kvMetadata: [
      { key: 'parkway.table', value: name },
      { key: 'parkway.schema_version', value: String(schemaVersion) },
    ],
    createdBy: 'parkway',
    statisticsTruncateLength: STATISTICS_BYTES_MAX,
  })
  const take = (): Uint8Array => {
    const bytes = writer.getBytes().slice()
    writer.index = 0
    return bytes
  }
  for await (const rows of batches) {
    if (rows.length === 0) continue
    const columnData = columns.map((column) => ({
      name: column.name,
      data: rows.map((row) => row[column.name] ?? null),
      statistics: WITH_STATISTICS.has(column.name),
      offsetIndex: false,
    }))
    parquet.write({ columnData, rowGroupSize: rows.length })
    yield take()
  }
  parquet.finish()
  yield take()
}

const PARQUET_TYPES = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT64' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
} as const satisfies Record<ArchivedColumn['type'], Omit<SchemaElement, 'name'>>

function describeColumn({ name, type, isOptional }: ArchivedColumn): SchemaElement {
  return { name, ...PARQUET_TYPES[type], repetition_type: isOptional === true ? 'OPTIONAL' : 'REQUIRED' }
}
