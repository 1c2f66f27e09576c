import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, normalize, sep } from 'node:path'
import { isSecretText, toSecretLine } from './secret-text.ts'

/** What a reference points to now, or why it cannot be read. */
type ReferenceReading =
  | { readonly secret: string; readonly problem: null }
  | { readonly secret: null; readonly problem: string }

export interface SecretReferences {
  /** Returns what is wrong with the text of a reference, or null. */
  findProblem(reference: string): string | null
  read(reference: string): ReferenceReading
  /** Reads the files that changed since they were read, and those that could not be read. Returns whether anything is different. */
  refresh(): boolean
  /** Forgets all references but these. */
  keep(references: ReadonlySet<string>): void
}

interface ReferencesOptions {
  /** Returns the value of an environment variable that secrets may be read from, or null if it may not be read. */
  readonly readVariable: (name: string) => { readonly value: string | undefined } | null
  /** The directories that secrets may be read from. */
  readonly directories: readonly string[]
}

interface KnownReference {
  readonly reading: ReferenceReading
  readonly fingerprint: string
}

const VARIABLE = /^env:([A-Za-z_][A-Za-z0-9_]{0,127})$/
const FILE = /^file:(\/[^\0]{1,1000})$/
const FILE_BYTES_MAX = 16 * 1024

/** Reads secrets that are kept elsewhere: `env:NAME` in the environment of the process, `file:/path` in a file. */
export function createSecretReferences({ readVariable, directories }: ReferencesOptions): SecretReferences {
  const known = new Map<string, KnownReference>()

  const findProblem = (reference: string): string | null => {
    const variable = VARIABLE.exec(reference)?.[1]
    if (variable !== undefined)
      return readVariable(variable) === null ? 'this variable is a setting of the gateway' : null
    const path = FILE.exec(reference)?.[1]
    if (path === undefined) return 'it is neither env:NAME nor file:/path'
    if (!isAbsolute(path) || normalize(path) !== path) return 'the path is not absolute and plain'
    if (!isWithin(path, directories)) return `the file is in none of ${directories.join(', ')}`
    return null
  }

  const readNow = (reference: string): ReferenceReading => {
    const problem = findProblem(reference)
    if (problem !== null) return unreadable(problem)
    const variable = VARIABLE.exec(reference)?.[1]
    if (variable === undefined) return readFile(reference.slice('file:'.length), directories)
    const value = readVariable(variable)?.value
    return value === undefined || value === '' ? unreadable('the variable is not set') : checked(value)
  }

  const look = (reference: string): KnownReference => {
    // Taken before the file is read, so that a change in between is noticed by the next look.
    const fingerprint = fingerprintOf(reference)
    const found = { reading: readNow(reference), fingerprint }
    known.set(reference, found)
    return found
  }

  return {
    findProblem,
    read: (reference) => (known.get(reference) ?? look(reference)).reading,
    refresh: () => {
      let isDifferent = false
      for (const [reference, { reading, fingerprint }] of known) {
        if (reading.problem === null && fingerprint === fingerprintOf(reference)) continue
        const now = look(reference).reading
        if (now.secret !== reading.secret || now.problem !== reading.problem) isDifferent = true
      }
      return isDifferent
    },
    keep: (references) => {
      for (const reference of known.keys()) if (!references.has(reference)) known.delete(reference)
    },
  }
}

function unreadable(problem: string): ReferenceReading {
  return { secret: null, problem }
}

/** The problem never contains what was read. */
function checked(text: string): ReferenceReading {
  const secret = text.trim()
  if (secret === '') return unreadable('it is empty')
  return isSecretText(secret)
    ? { secret: toSecretLine(secret), problem: null }
    : unreadable('it is not one line of printable characters')
}

function isWithin(path: string, directories: readonly string[]): boolean {
  return directories.some((directory) =>
    path.startsWith(directory.endsWith(sep) ? directory : directory + sep),
  )
}

function fingerprintOf(reference: string): string {
  if (!reference.startsWith('file:')) return ''
  try {
    const stats = statSync(reference.slice('file:'.length), { bigint: true, throwIfNoEntry: false })
    return stats ? `${stats.ino}:${stats.size}:${stats.mtimeNs}` : 'absent'
  } catch {
    return 'unreadable'
  }
}

/** Reads a plain file only: reading a device or a pipe may never end. */
function readFile(path: string, directories: readonly string[]): ReferenceReading {
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
    if (stats.size > FILE_BYTES_MAX) return unreadable(`it is larger than ${FILE_BYTES_MAX} bytes`)
    const buffer = Buffer.alloc(FILE_BYTES_MAX + 1)
    const length = readSync(descriptor, buffer, 0, buffer.length, 0)
    if (length > FILE_BYTES_MAX) return unreadable(`it is larger than ${FILE_BYTES_MAX} bytes`)
    return checked(buffer.toString('utf8', 0, length))
  } catch (error) {
    return unreadable(explain(error))
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

function explain(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EACCES' || code === 'EPERM') return 'the gateway may not read this file'
  return 'the file cannot be read'
}
