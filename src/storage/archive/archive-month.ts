import { createHash } from 'node:crypto'
import type { Database } from '../database.ts'
import type { MediaStore } from '../media-store/media-store.ts'
import type { ArchivedTable } from './archived-tables.ts'
import { nameManifest, namePart } from './archive-store.ts'
import { hashFile } from './check-part.ts'
import { hasRows } from './has-rows.ts'
import { writeManifest } from './manifest.ts'
import type { Month } from './month.ts'
import {
  completeArchive,
  createArchive,
  deleteArchive,
  listArchives,
  listParts,
  recordPart,
  replaceEarlier,
  type StoredArchive,
  type StoredPart,
} from './stored-archives.ts'
import { writePart } from './write-part.ts'

export interface ArchiveWork {
  readonly database: Database
  readonly store: MediaStore
  /** Instead of those of the table. */
  readonly partRows?: number
  readonly stepRows?: number
  /** Called after each read with the time it took. Throws if the work is to end. */
  readonly rest: (workedMs: number) => Promise<void>
}

/** More than a month has, of a row each millisecond. */
const PARTS_MAX = 10_000

/** Rows came while the month was written. It is written again next time. */
export class RowsHaveChanged extends Error {}

/**
 * Writes a closed month to files, and to a manifest that lists them when all were read back and have the rows of the table. A process
 * that was killed is continued after its last file.
 */
export async function archiveMonth(
  work: ArchiveWork,
  table: ArchivedTable,
  month: Month,
): Promise<StoredArchive> {
  const { database, store } = work
  const archive = await findUnfinished(work, table, month)
  const bounds = await table.boundsOf(database, month)
  const parts = await writeParts(work, table, { archive, bounds })
  const rows = parts.reduce((sum, part) => sum + part.rows, 0)
  const digest = String(parts.reduce((sum, part) => sum + BigInt(part.digest), 0n))
  if (!(await hasRows(database, table, { bounds, rows, digest }))) {
    await database.query(`UPDATE archives SET status = 'stale' WHERE id = $1`, [archive.id])
    throw new RowsHaveChanged(`${table.name} of ${month.name} changed while it was written`)
  }
  const manifest = writeManifest(table, archive, parts)
  const manifestSha256 = createHash('sha256').update(manifest).digest('hex')
  const name = nameManifest(archive)
  await store.put(name, once(manifest), 'application/json')
  if ((await hashFile(store, name))?.sha256 !== manifestSha256) throw new Error(`${name} cannot be read back`)
  await database.transaction(async (transaction) => {
    await completeArchive(transaction, archive.id, { rows, digest, manifestSha256 })
    await replaceEarlier(transaction, archive)
  })
  await removeReplaced(work, table, month)
  return { ...archive, status: 'complete', rows, digest, manifestSha256 }
}

/** Returns the archive that a killed process began, or a new one. */
async function findUnfinished(work: ArchiveWork, table: ArchivedTable, month: Month): Promise<StoredArchive> {
  const found = await listArchives(work.database, { table: table.name, month })
  const unfinished = found.find(({ status }) => status === 'writing')
  if (unfinished === undefined) return createArchive(work.database, table, month)
  if (unfinished.schemaVersion === table.schemaVersion) return unfinished
  await removeArchive(work, unfinished)
  return createArchive(work.database, table, month)
}

interface PartsOrder {
  readonly archive: StoredArchive
  readonly bounds: readonly unknown[]
}

async function writeParts(
  { database, store, rest, ...sizes }: ArchiveWork,
  table: ArchivedTable,
  { archive, bounds }: PartsOrder,
): Promise<StoredPart[]> {
  const { partRows = table.partRows, stepRows = table.stepRows } = sizes
  const parts = await listParts(database, archive.id)
  while (parts.length < PARTS_MAX) {
    const written = await writePart({ database, store }, table, {
      archive,
      part: parts.length + 1,
      afterKey: parts.at(-1)?.lastKey ?? table.keyBeforeFirst,
      bounds,
      rowsMax: partRows,
      stepRows,
      rest,
    })
    if (written === null) return parts
    await database.transaction((transaction) => recordPart(transaction, archive.id, written))
    parts.push(written)
    if (written.rows < partRows) return parts
  }
  throw new Error(`${table.name} of ${archive.month.name} has too many rows`)
}

/** Removes archives of the month that lack rows. What is in files only is never removed. */
async function removeReplaced(work: ArchiveWork, table: ArchivedTable, month: Month): Promise<void> {
  const found = await listArchives(work.database, { table: table.name, month })
  for (const archive of found)
    if (archive.status === 'stale' && archive.droppedAt === null) await removeArchive(work, archive)
}

/** Removes its files before its rows, so that a process which is killed leaves no file that nobody knows. */
async function removeArchive(
  { database, store }: Pick<ArchiveWork, 'database' | 'store'>,
  archive: StoredArchive,
): Promise<void> {
  await store.delete(nameManifest(archive))
  const parts = await listParts(database, archive.id)
  for (const { part } of parts) await store.delete(namePart(archive, part))
  // A file that was written and not recorded.
  await store.delete(namePart(archive, parts.length + 1))
  await deleteArchive(database, archive.id)
}

async function* once(text: string): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(text)
}
