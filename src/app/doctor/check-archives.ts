import { nameManifest, namePart } from '../../storage/archive/archive-store.ts'
import { hashFile } from '../../storage/archive/check-part.ts'
import { listArchives, listParts, type StoredArchive } from '../../storage/archive/stored-archives.ts'
import type { Queryable } from '../../storage/database.ts'
import type { MediaStore } from '../../storage/media-store/media-store.ts'
import { messageOf } from '../../storage/storage-error.ts'
import type { Finding } from './finding.ts'

/** The newest of these are looked at. `parkway archive verify` reads all of them. */
const ARCHIVES_MAX = 24
const FILES_MAX = 200
/** Files are read as a whole up to this sum, and the others only looked for. */
const READ_BYTES_MAX = 64 * 1024 ** 2

interface Archives {
  readonly database: Queryable
  readonly store: MediaStore
}

/** Looks whether the files of archives are there, and reads the newest of them. */
export async function checkArchives(archives: Archives): Promise<Finding[]> {
  const all = await listArchives(archives.database)
  const complete = all
    .filter(({ status }) => status === 'complete')
    .toSorted((one, other) => (one.month.name < other.month.name ? 1 : -1))
  const left = { bytes: READ_BYTES_MAX, files: FILES_MAX }
  const findings: Finding[] = []
  for (const archive of complete.slice(0, ARCHIVES_MAX)) {
    const problem = await findProblem(archives, archive, left).catch(
      (error: unknown) => `its files cannot be reached: ${messageOf(error)}`,
    )
    if (problem !== null) findings.push(broken(archive, problem))
  }
  return findings
}

async function findProblem(
  { database, store }: Archives,
  archive: StoredArchive,
  left: { bytes: number; files: number },
): Promise<string | null> {
  const manifest = nameManifest(archive)
  const found = await hashFile(store, manifest)
  if (found === null) return `${manifest} is missing`
  if (found.sha256 !== archive.manifestSha256) return `${manifest} was changed`
  for (const part of await listParts(database, archive.id)) {
    if (left.files === 0) return null
    left.files -= 1
    const name = namePart(archive, part.part)
    if (!(await store.exists(name))) return `${name} is missing`
    if (part.bytes > left.bytes) continue
    left.bytes -= part.bytes
    if ((await hashFile(store, name))?.sha256 !== part.sha256) return `${name} was changed`
  }
  return null
}

function broken({ table, month, droppedAt }: StoredArchive, problem: string): Finding {
  return {
    code: 'archive_broken',
    level: droppedAt === null ? 'warning' : 'critical',
    subject: `${table} of ${month.name}`,
    message: `The archive does not hold: ${problem}.`,
    mend:
      droppedAt === null
        ? 'Its rows are still in the database. Restore the file from a copy; the month is not dropped before. `parkway archive verify` reads all files.'
        : 'Its rows are nowhere else. Restore the file from a copy of the bucket or directory, then `parkway archive verify`.',
  }
}
