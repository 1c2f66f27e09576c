import type { Readable } from 'node:stream'
import type { AsyncBuffer, FileMetaData } from 'hyparquet'
import type { MediaStore } from '../media-store/media-store.ts'
import type { ArchivedRow } from './archived-tables.ts'

/** A file of an archive. */
export interface ArchivedFile {
  readonly store: MediaStore
  readonly name: string
  readonly bytes: number
}

/** Times as they are written, without the rounding of a `Date`. */
const PARSERS = { timestampFromMicroseconds: (micros: bigint): bigint => micros }

/** Yields the rows, one row group at a time. With an account, row groups are left out that have none of its rows. */
export async function* readParquet(
  file: ArchivedFile,
  accountId: string | null,
): AsyncGenerator<readonly ArchivedRow[], void> {
  const { parquetMetadataAsync, parquetReadObjects } = await import('hyparquet')
  const buffer = bufferOf(file)
  const metadata = await parquetMetadataAsync(buffer, { parsers: PARSERS })
  let rowStart = 0
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows)
    if (accountId === null || mayHave(group, accountId)) {
      const rows = await parquetReadObjects({ file: buffer, metadata, rowStart, rowEnd, parsers: PARSERS })
      const read = rows.map(parseRow)
      yield accountId === null ? read : read.filter((row) => row['account_id'] === accountId)
    }
    rowStart = rowEnd
  }
}

function mayHave({ columns }: FileMetaData['row_groups'][number], accountId: string): boolean {
  const chunk = columns.find(({ meta_data: about }) => about?.path_in_schema[0] === 'account_id')
  const { min_value: least, max_value: most } = chunk?.meta_data?.statistics ?? {}
  if (typeof least !== 'string' || typeof most !== 'string') return true
  return least <= accountId && accountId <= most
}

function parseRow(row: Record<string, unknown>): ArchivedRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, parseValue(name, value)]))
}

function parseValue(name: string, value: unknown): string | bigint | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'bigint') return value
  throw new Error(`the column ${name} has a value of another type`)
}

function bufferOf({ store, name, bytes }: ArchivedFile): AsyncBuffer {
  return {
    byteLength: bytes,
    slice: async (start, end = bytes) => {
      if (end <= start) return new ArrayBuffer(0)
      const source = await store.open(name, { start, end: end - 1 })
      if (source === null) throw new Error(`${name} is missing`)
      return collect(source, { name, wanted: end - start })
    },
  }
}

async function collect(
  source: Readable,
  { name, wanted }: { readonly name: string; readonly wanted: number },
): Promise<ArrayBuffer> {
  const bytes = new Uint8Array(wanted)
  let filled = 0
  for await (const chunk of source as AsyncIterable<Uint8Array>) {
    if (filled + chunk.byteLength > wanted) throw new Error(`${name} has more bytes than were asked for`)
    bytes.set(chunk, filled)
    filled += chunk.byteLength
  }
  if (filled < wanted) throw new Error(`${name} ends too early`)
  return bytes.buffer
}
