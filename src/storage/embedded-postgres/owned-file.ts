import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { StorageError } from '../storage-error.ts'
import type { ServerUser } from './server-user.ts'

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
export const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
const READ = constants.O_RDONLY | constants.O_NOFOLLOW

/**
 * Puts a file of the server's user in place. The directory may be that user's, who could have put a link there: root creates the
 * file itself, follows no link, and gives away the file it has open, never a name.
 */
export async function writeOwned(path: string, text: string, user: ServerUser): Promise<void> {
  const draft = `${path}.${randomUUID()}`
  const file = await openOwned(draft, CREATE, user)
  try {
    await file.writeFile(text)
  } finally {
    await file.close()
  }
  // Replaces a link instead of following it.
  await rename(draft, path).catch(async (error: unknown) => {
    await rm(draft, { force: true })
    throw error
  })
}

/** Opens a plain file with one name, and gives it to the server's user. */
export async function openOwned(path: string, flags: number, user: ServerUser): Promise<FileHandle> {
  const file = await open(path, flags, 0o600)
  try {
    await requirePlainFile(file, path)
    if (user) await file.chown(user.uid, user.gid)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Reads a small file that the server's user could have replaced by a link to one that only root may read. */
export async function readOwned(path: string): Promise<string> {
  const file = await open(path, READ)
  try {
    await requirePlainFile(file, path)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

// A second name could be that of a file which is not the server's.
async function requirePlainFile(file: FileHandle, path: string): Promise<void> {
  const { nlink } = await file.stat().then((found) => (found.isFile() ? found : { nlink: 0 }))
  if (nlink === 1) return
  throw new StorageError('foreign_directory', `${path} is not a plain file. Remove it and start again.`)
}
