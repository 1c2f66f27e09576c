import { createHash } from 'node:crypto'
import type { MediaStore } from '../media-store/media-store.ts'
import { messageOf } from '../storage-error.ts'
import type { ArchivedTable } from './archived-tables.ts'
import { readParquet, type ArchivedFile } from './read-parquet.ts'
import { RowTotals, type Totals } from './row-totals.ts'

/** What a file should have. */
interface RecordedPart extends Totals {
  readonly bytes: number
  readonly sha256: string
}

/** Reads a file back, its bytes and its rows. Returns what differs from what was written, in words. */
export async function checkPart(
  file: Pick<ArchivedFile, 'store' | 'name'>,
  table: ArchivedTable,
  recorded: RecordedPart,
): Promise<string[]> {
  const found = await hashFile(file.store, file.name)
  if (found === null) return ['the file is missing']
  if (found.bytes !== recorded.bytes)
    return [`it has ${found.bytes} bytes, and ${recorded.bytes} were written`]
  if (found.sha256 !== recorded.sha256)
    return [`its SHA-256 is ${found.sha256}, and ${recorded.sha256} was written`]
  const totals = new RowTotals(table)
  try {
    for await (const rows of readParquet({ ...file, bytes: recorded.bytes }, null)) totals.add(rows)
  } catch (error) {
    return [`its rows cannot be read: ${messageOf(error)}`]
  }
  return compareTotals(totals.finish(), recorded)
}

export async function hashFile(
  store: MediaStore,
  name: string,
): Promise<{ readonly bytes: number; readonly sha256: string } | null> {
  const source = await store.open(name)
  if (source === null) return null
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of source as AsyncIterable<Uint8Array>) {
    hash.update(chunk)
    bytes += chunk.byteLength
  }
  return { bytes, sha256: hash.digest('hex') }
}

function compareTotals(read: Totals, written: Totals): string[] {
  const differences: string[] = []
  if (read.rows !== written.rows)
    differences.push(`it has ${read.rows} rows, and ${written.rows} were written`)
  for (const [column, sum] of Object.entries(written.sums))
    if (read.sums[column] !== sum)
      differences.push(`the sum of ${column} is ${read.sums[column] ?? 0n}, and ${sum} was written`)
  if (differences.length === 0 && read.contentSha256 !== written.contentSha256)
    differences.push('a value of a row is another one than was written')
  return differences
}
