import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

const BYTES_MAX = 4 * 1024 * 1024

/** A file of the user, as it is now. */
export interface UserFile {
  /** Where the file really is, with links followed. */
  readonly path: string
  /** Null if there is no file. */
  readonly content: Buffer | null
  readonly mode: number | null
}

/** Reads a configuration file. Throws if writing there could put a key into a project. */
export function readUserFile(path: string): UserFile {
  const real = followLinks(path)
  refuseProject(real)
  if (!existsSync(real)) return { path: real, content: null, mode: null }
  const { size, mode } = statSync(real)
  if (!statSync(real).isFile() || size > BYTES_MAX)
    throw new CommandFailure(EXIT.failed, `${real} is not a configuration file.`)
  return { path: real, content: readFileSync(real), mode: mode & 0o777 }
}

/** Writes the file in one step, so that a tool never reads half of it. Returns the first directory that had to be made. */
export function writeUserFile(path: string, content: Buffer, mode: number): string | null {
  const made = mkdirSync(dirname(path), { recursive: true, mode: 0o700 }) ?? null
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}`)
  writeFileSync(draft, content, { mode: 0o600 })
  chmodSync(draft, mode)
  renameSync(draft, path)
  return made
}

/** Removes directories that were made for the file, as far as they are empty. */
export function removeMadeDirectories(path: string, made: string): void {
  for (let directory = dirname(path); directory.startsWith(made); directory = dirname(directory)) {
    try {
      rmdirSync(directory)
    } catch {
      return
    }
  }
}

export function digest(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

function followLinks(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    throw new CommandFailure(EXIT.failed, `${path} is a link to nothing.`, 'Remove it, or make its target.')
  // The file is missing, but its directory may be a link.
  const parent = dirname(path)
  return join(existsSync(parent) ? realpathSync(parent) : parent, basename(path))
}

/** Files in a work tree are shared with others. The home directory itself may be one, for the files of its user. */
function refuseProject(path: string): void {
  const home = existsSync(homedir()) ? realpathSync(homedir()) : homedir()
  for (let directory = dirname(path); directory !== dirname(directory); directory = dirname(directory)) {
    if (directory === home) return
    if (!existsSync(join(directory, '.git'))) continue
    throw new CommandFailure(
      EXIT.failed,
      `${path} is in the git work tree ${directory}: a key must not get into a project.`,
      'Use a file of your own outside of it.',
    )
  }
}
