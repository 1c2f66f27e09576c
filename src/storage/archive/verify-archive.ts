import type { Queryable } from '../database.ts'
import type { MediaStore } from '../media-store/media-store.ts'
import { findArchivedTable } from './archived-tables.ts'
import { nameManifest, namePart } from './archive-store.ts'
import { checkPart, hashFile } from './check-part.ts'
import { hasRows } from './has-rows.ts'
import { listParts, type StoredArchive } from './stored-archives.ts'

/**
 * Reads all files of a complete archive and compares them with what was recorded when they were written, and with the rows of the table
 * if those are still there. Returns what differs, in words, each with the name of its file.
 */
export async function verifyArchive(
  { database, store }: { readonly database: Queryable; readonly store: MediaStore },
  archive: StoredArchive,
): Promise<string[]> {
  const table = findArchivedTable(archive.table)
  if (table === undefined || table.schemaVersion !== archive.schemaVersion)
    return [`its columns are those of another release (${archive.schemaVersion})`]
  const differences: string[] = []
  const manifest = nameManifest(archive)
  const found = await hashFile(store, manifest)
  if (found?.sha256 !== archive.manifestSha256)
    differences.push(`${manifest}: ${found === null ? 'the file is missing' : 'it was changed'}`)
  const parts = await listParts(database, archive.id)
  for (const part of parts) {
    const name = namePart(archive, part.part)
    for (const difference of await checkPart({ store, name }, table, part))
      differences.push(`${name}: ${difference}`)
  }
  const rows = parts.reduce((sum, part) => sum + part.rows, 0)
  if (rows !== archive.rows)
    differences.push(`its files have ${rows} rows, and the archive should have ${archive.rows}`)
  const bounds = await table.boundsOf(database, archive.month)
  const { digest, droppedAt } = archive
  if (droppedAt === null && !(await hasRows(database, table, { bounds, rows, digest })))
    differences.push(`${table.name} has other rows of ${archive.month.name} than the archive`)
  return differences
}
