import type { Queryable } from '../database.ts'
import type { MediaStore } from '../media-store/media-store.ts'
import { nameManifest, namePart } from './archive-store.ts'
import { hashFile } from './check-part.ts'
import { listParts, type StoredArchive } from './stored-archives.ts'

/** Every Parquet file ends with it. */
const END = 'PAR1'

/** Returns whether the files of an archive are in this store: its manifest, and each part with its end. */
export async function hasFiles(
  { database, store }: { readonly database: Queryable; readonly store: MediaStore },
  archive: StoredArchive,
): Promise<boolean> {
  if ((await hashFile(store, nameManifest(archive)))?.sha256 !== archive.manifestSha256) return false
  for (const { part, bytes } of await listParts(database, archive.id))
    if (!(await endsAt(store, namePart(archive, part), bytes))) return false
  return true
}

async function endsAt(store: MediaStore, name: string, bytes: number): Promise<boolean> {
  const source = await store.open(name, { start: bytes - END.length, end: bytes - 1 })
  if (source === null) return false
  let end = ''
  for await (const chunk of source as AsyncIterable<Uint8Array>) end += Buffer.from(chunk).toString('latin1')
  return end === END
}
