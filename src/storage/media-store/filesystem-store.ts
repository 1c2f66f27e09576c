import { randomUUID } from 'node:crypto'
import {
  access,
  constants,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  type FileHandle,
} from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { errorCodeOf, StorageError } from '../storage-error.ts'
import { requireStoreKey, type MediaStore } from './media-store.ts'
import { syncDirectory } from './sync-directory.ts'

const READ_CHUNK_BYTES = 256 * 1024
const UNFINISHED_MAX = 10_000
const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600

interface FilesystemStoreOptions {
  readonly directory: string
  /** The path of a key below the directory. Throws for what is no key. */
  readonly pathOf?: (key: string) => string
}

/** Stores files in a directory, which is created with the first file. */
export function createFilesystemStore({
  directory,
  pathOf: relativePathOf = pathByTime,
}: FilesystemStoreOptions): MediaStore {
  const root = resolve(directory)
  const incoming = join(root, 'incoming')
  const pathOf = (key: string): string => join(root, relativePathOf(key))

  return {
    async put(key, source) {
      const path = pathOf(key)
      const draft = join(incoming, `${basename(key)}.${randomUUID()}`)
      try {
        const bytes = await writeDraft(draft, source)
        await move(draft, path)
        return { bytes }
      } catch (error) {
        await rm(draft, { force: true }).catch(() => {})
        if (errorCodeOf(error) !== 'ENOSPC') throw error
        throw new StorageError('no_space', `No space left for media in ${root}.`, { cause: error })
      }
    },

    async open(key, range) {
      const handle = await unlessMissing(open(pathOf(key), 'r'))
      return handle?.createReadStream({ highWaterMark: READ_CHUNK_BYTES, ...range }) ?? null
    },

    exists: async (key) => (await unlessMissing(stat(pathOf(key)))) !== null,

    async delete(key) {
      const path = pathOf(key)
      await rm(path, { force: true })
      // Succeeds only for the last file, when the directory is empty.
      await rmdir(dirname(path)).catch(() => {})
    },

    check: async () => {
      await unlessMissing(access(root, constants.R_OK | constants.W_OK | constants.X_OK))
    },
    async removeUnfinished(before) {
      const names = (await unlessMissing(readdir(incoming))) ?? []
      for (const name of names.slice(0, UNFINISHED_MAX)) {
        const draft = join(incoming, name)
        const found = await unlessMissing(stat(draft))
        if (found !== null && found.mtimeMs < before.getTime()) await rm(draft, { force: true })
      }
    },

    close: async () => {},
  }
}

// Directories are named after the first digits, which in a UUIDv7 are the time, and cover 17 minutes each. Files of the same
// time share a directory and its sync, and mostly expire together.
function pathByTime(key: string): string {
  return join(requireStoreKey(key).slice(0, 7), key)
}

async function writeDraft(draft: string, source: AsyncIterable<Uint8Array>): Promise<number> {
  const handle = await withDirectory(draft, () => open(draft, 'wx', FILE_MODE))
  try {
    let bytes = 0
    for await (const chunk of source) {
      await writeAll(handle, chunk)
      bytes += chunk.byteLength
    }
    await handle.sync()
    return bytes
  } finally {
    await handle.close()
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let offset = 0; offset < chunk.byteLength;) {
    const { bytesWritten } = await handle.write(chunk, offset)
    offset += bytesWritten
  }
}

// The name is durable only after the directory is synced.
async function move(draft: string, path: string): Promise<void> {
  await withDirectory(path, () => rename(draft, path))
  await syncDirectory(dirname(path))
}

/**
 * Runs the work and creates its directory if it is missing. Retries, because a concurrent delete of the last file may remove the
 * directory again.
 */
async function withDirectory<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (errorCodeOf(error) !== 'ENOENT' || attempt === ATTEMPTS_MAX) throw error
    }
    const made = await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
    if (made !== undefined) await syncParents(dirname(path), made)
  }
}

const ATTEMPTS_MAX = 5

/** Syncs the parent of each new directory, from the deepest to the first. */
async function syncParents(last: string, first: string): Promise<void> {
  for (let made = last; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made))
}

async function unlessMissing<Result>(work: Promise<Result>): Promise<Result | null> {
  return work.catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return null
    throw error
  })
}
