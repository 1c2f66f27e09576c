import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { StorageError } from '../storage-error.ts'
import type { ServerUser } from './server-user.ts'

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
export const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
const READ = constants.O_RDONLY | constants.O_NOFOLLOW

/**
 * Writes a file that the server's user will own. That user may own the directory and may have placed a link there. So root
 * creates a new file, follows no links, and changes the owner of the open file, never of a path.
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

/** Opens a regular file without further hard links, and makes the server's user its owner. */
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

/**
 * Reads a small file. Follows no links, because the server's user could have replaced it by a link to a file that only root may
 * read.
 */
export async function readOwned(path: string): Promise<string> {
  const file = await open(path, READ)
  try {
    await requirePlainFile(file, path)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

// A second hard link could belong to a file of another user.
async function requirePlainFile(file: FileHandle, path: string): Promise<void> {
  const { nlink } = await file.stat().then((found) => (found.isFile() ? found : { nlink: 0 }))
  if (nlink === 1) return
  throw new StorageError('foreign_directory', `${path} is not a plain file. Remove it and start again.`)
}
