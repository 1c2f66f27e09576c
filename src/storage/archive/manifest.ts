import { namePart } from './archive-store.ts'
import type { ArchivedTable } from './archived-tables.ts'
import type { StoredArchive, StoredPart } from './stored-archives.ts'

const FORMAT = 1

/**
 * The file that makes an archive whole: what it has, in one JSON object. Sums are integers as text, which no reader rounds. The same
 * archive has the same text at any time.
 */
export function writeManifest(
  table: ArchivedTable,
  archive: StoredArchive,
  parts: readonly StoredPart[],
): string {
  const sums = Object.fromEntries(
    table.summed.map((column) => [
      column,
      String(parts.reduce((sum, part) => sum + (part.sums[column] ?? 0n), 0n)),
    ]),
  )
  const manifest = {
    format: FORMAT,
    table: table.name,
    month: archive.month.name,
    schema_version: archive.schemaVersion,
    columns: table.columns.map(({ name, type, isOptional }) => ({
      name,
      type,
      nullable: isOptional ?? false,
    })),
    rows: parts.reduce((sum, part) => sum + part.rows, 0),
    sums,
    parts: parts.map((part) => ({
      file: namePart(archive, part.part).split('/').at(-1),
      rows: part.rows,
      bytes: part.bytes,
      sha256: part.sha256,
      content_sha256: part.contentSha256,
      sums: Object.fromEntries(Object.entries(part.sums).map(([column, sum]) => [column, String(sum)])),
    })),
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}
