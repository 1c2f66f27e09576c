import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, normalize, sep } from 'node:path'
import { checked, unreadable, type SecretReading } from './secret-reading.ts'
import type { SecretStore } from './secret-store.ts'
import { createStoredSecrets } from './stored-secrets.ts'

export interface SecretReferences {
  /** Returns what is wrong with the text of a reference, or null. */
  findProblem(reference: string): string | null
  /** References of stores are as they were when they were read last. */
  read(reference: string): SecretReading
  /** Reads from stores what is not known yet. */
  load(references: readonly string[]): Promise<void>
  /** Reads again the files that changed or could not be read, and secrets of stores from time to time. Returns whether anything is different. */
  refresh(): boolean
  /** Forgets all references but these. */
  keep(references: ReadonlySet<string>): void
}

interface ReferencesOptions {
  /** Returns the value of an environment variable that secrets may be read from, or null if it may not be read. */
  readonly readVariable: (name: string) => { readonly value: string | undefined } | null
  /** The directories that secrets may be read from. */
  readonly directories: readonly string[]
  /** The stores that this gateway can reach. */
  readonly stores?: readonly SecretStore[]
}

interface KnownReference {
  readonly reading: SecretReading
  readonly fingerprint: string
}

const VARIABLE = /^env:([A-Za-z_][A-Za-z0-9_]{0,127})$/
const FILE = /^file:(\/[^\0]{1,1000})$/
const FILE_BYTES_MAX = 16 * 1024

/** Reads secrets that are kept elsewhere: `env:NAME` in the environment of the process, `file:/path` in a file, or in a store. */
export function createSecretReferences({
  readVariable,
  directories,
  stores = [],
}: ReferencesOptions): SecretReferences {
  const known = new Map<string, KnownReference>()
  const stored = createStoredSecrets(stores)
  const forms = ['env:NAME', 'file:/path', ...stores.map(({ form }) => form)]

  const findProblem = (reference: string): string | null => {
    const variable = VARIABLE.exec(reference)?.[1]
    if (variable !== undefined)
      return readVariable(variable) === null ? 'this variable is a setting of the gateway' : null
    const store = stored.storeOf(reference)
    if (store !== undefined) return store.findProblem(reference)
    const path = FILE.exec(reference)?.[1]
    if (path === undefined) return `it is none of ${forms.join(', ')}`
    if (!isAbsolute(path) || normalize(path) !== path) return 'the path is not absolute and plain'
    if (!isWithin(path, directories)) return `the file is in none of ${directories.join(', ')}`
    return null
  }

  const readNow = (reference: string): SecretReading => {
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
    read: (reference) =>
      stored.storeOf(reference) === undefined
        ? (known.get(reference) ?? look(reference)).reading
        : stored.read(reference),
    load: (references) => stored.load(references),
    refresh: () => {
      let isDifferent = stored.refresh()
      for (const [reference, { reading, fingerprint }] of known) {
        if (reading.problem === null && fingerprint === fingerprintOf(reference)) continue
        const now = look(reference).reading
        if (now.secret !== reading.secret || now.problem !== reading.problem) isDifferent = true
      }
      return isDifferent
    },
    keep: (references) => {
      stored.keep(references)
      for (const reference of known.keys()) if (!references.has(reference)) known.delete(reference)
    },
  }
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
function readFile(path: string, directories: readonly string[]): SecretReading {
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
