import { createFilesystemStore } from '../media-store/filesystem-store.ts'
import type { MediaStore } from '../media-store/media-store.ts'
import { createS3Store, type S3StoreOptions } from '../media-store/s3-store.ts'
import type { Month } from './month.ts'

/** Where archives are: a directory, or the bucket of files. It can be sent to a thread. */
export type ArchivePlace = { readonly directory: string } | { readonly bucket: S3StoreOptions }

/** Keys are the names of files, with folders that readers of Parquet take for a column `month`. */
export function openArchiveStore(place: ArchivePlace): MediaStore {
  if ('directory' in place) return createFilesystemStore({ ...place, pathOf: requireName })
  return createS3Store({ ...place.bucket, pathOf: (name) => `archive/${requireName(name)}` })
}

export interface ArchiveName {
  readonly id: string
  readonly table: string
  readonly month: Month
}

export function namePart({ id, table, month }: ArchiveName, part: number): string {
  return `${table}/month=${month.name}/part-${shorten(id)}-${String(part).padStart(4, '0')}.parquet`
}

/** Readers of folders leave out files whose name begins with an underscore. */
export function nameManifest({ id, table, month }: ArchiveName): string {
  return `${table}/month=${month.name}/_manifest-${shorten(id)}.json`
}

/** The last digits: the first ones of two ids of the same time are equal. */
function shorten(id: string): string {
  return id.slice(-12)
}

const NAME_FORM =
  /^[a-z_]+\/month=\d{4}-\d{2}\/(?:part-[0-9a-f]{12}-\d{4,6}\.parquet|_manifest-[0-9a-f]{12}\.json)$/

function requireName(name: string): string {
  if (!NAME_FORM.test(name)) throw new Error('not a name of a file of an archive')
  return name
}
