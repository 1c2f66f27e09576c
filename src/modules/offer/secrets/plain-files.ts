import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, normalize, sep } from 'node:path'

/** Files that operators may name, in directories that whoever runs the gateway chose. */
export interface PlainFiles {
  /** Returns what is wrong with a path, or null. */
  findProblem(path: string): string | null
  read(path: string): PlainFile
}

type PlainFile =
  | { readonly text: string; readonly problem: null }
  | { readonly text: null; readonly problem: string }

interface PlainFilesOptions {
  readonly directories: readonly string[]
  readonly bytesMax: number
}

export function createPlainFiles({ directories, bytesMax }: PlainFilesOptions): PlainFiles {
  const findProblem = (path: string): string | null => {
    if (!isAbsolute(path) || normalize(path) !== path) return 'the path is not absolute and plain'
    if (!isWithin(path, directories)) return `the file is in none of ${directories.join(', ')}`
    return null
  }
  return {
    findProblem,
    read: (path) => {
      const problem = findProblem(path)
      return problem === null ? readFile(path, directories, bytesMax) : unreadable(problem)
    },
  }
}

/** Returns another text after each change of the file. */
export function fingerprintOfFile(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stats ? `${stats.ino}:${stats.size}:${stats.mtimeNs}` : 'absent'
  } catch {
    return 'unreadable'
  }
}

/** Reads a plain file only: reading a device or a pipe may never end. */
function readFile(path: string, directories: readonly string[], bytesMax: number): PlainFile {
  let descriptor: number | null = null
  try {
    // A link may lead elsewhere, as those of mounted secrets do.
    const real = realpathSync(path)
    const realDirectories = directories.flatMap((directory) => {
      try {
        return [realpathSync(directory)]
      } catch {
        return []
      }
    })
    if (!isWithin(real, realDirectories)) return unreadable('it is a link to somewhere else')
    descriptor = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return unreadable('it is not a plain file')
    if (stats.size > bytesMax) return unreadable(`it is larger than ${bytesMax} bytes`)
    const buffer = Buffer.alloc(bytesMax + 1)
    const length = readSync(descriptor, buffer, 0, buffer.length, 0)
    if (length > bytesMax) return unreadable(`it is larger than ${bytesMax} bytes`)
    return { text: buffer.toString('utf8', 0, length), problem: null }
  } catch (error) {
    return unreadable(explain(error))
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

function isWithin(path: string, directories: readonly string[]): boolean {
  return directories.some((directory) =>
    path.startsWith(directory.endsWith(sep) ? directory : directory + sep),
  )
}

function unreadable(problem: string): PlainFile {
  return { text: null, problem }
}

function explain(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EACCES' || code === 'EPERM') return 'the gateway may not read this file'
  return 'the file cannot be read'
}
