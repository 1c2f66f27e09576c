import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

const PRIVATE_MODE = 0o700
const WRITABLE_BY_OTHERS = 0o022

/**
 * Keeps compiled code for the next start, because compiling takes most of the time of a short command. Node creates the files
 * with the mode of the umask, and runs what it finds there, so the directories around them are closed to everybody else. Without
 * such directories there is no cache.
 */
export function enablePrivateCache(): void {
  const own = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'parkway')
  const directory = join(own, 'compiled')
  if (makePrivate(own) && makePrivate(directory)) enableCompileCache(directory)
}

function makePrivate(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: PRIVATE_MODE })
    const { uid, mode } = statSync(directory)
    if (process.getuid !== undefined && uid !== process.getuid()) return false
    if ((mode & ~PRIVATE_MODE & 0o777) !== 0) chmodSync(directory, PRIVATE_MODE)
    // Others may have put code there.
    if ((mode & WRITABLE_BY_OTHERS) !== 0) {
      rmSync(directory, { recursive: true })
      mkdirSync(directory, { mode: PRIVATE_MODE })
    }
    return true
  } catch {
    // A home that cannot be written is no reason for a command to fail.
    return false
  }
}
