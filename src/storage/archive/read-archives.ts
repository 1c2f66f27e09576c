import type { Queryable } from '../database.ts'
import type { MediaStore } from '../media-store/media-store.ts'
import type { ArchivedRow, ArchivedTable } from './archived-tables.ts'
import { namePart } from './archive-store.ts'
import type { Month } from './month.ts'
import { readParquet } from './read-parquet.ts'
import { listArchives, listParts } from './stored-archives.ts'

interface ArchiveQuestion {
  readonly table: ArchivedTable
  readonly month: Month
  /** Null for all accounts. */
  readonly accountId: string | null
}

/** Yields the rows of a month from its complete archives, some at a time, or null if there is none. */
export async function readArchives(
  { database, store }: { readonly database: Queryable; readonly store: MediaStore },
  { table, month, accountId }: ArchiveQuestion,
): Promise<AsyncIterable<readonly ArchivedRow[]> | null> {
  const found = await listArchives(database, { table: table.name, month })
  const complete = found.filter(({ status }) => status === 'complete')
  if (complete.length === 0) return null
  return (async function* () {
    for (const archive of complete)
      for (const { part, bytes } of await listParts(database, archive.id))
        yield* readParquet({ store, name: namePart(archive, part), bytes }, accountId)
  })()
}
