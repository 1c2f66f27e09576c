import { createKnownReadings } from './known-readings.ts'
import { createPlainFiles, fingerprintOfFile } from './plain-files.ts'
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

const VARIABLE = /^env:([A-Za-z_][A-Za-z0-9_]{0,127})$/
const FILE = /^file:(\/[^\0]{1,1000})$/
const FILE_BYTES_MAX = 16 * 1024

/** Reads secrets that are kept elsewhere: `env:NAME` in the environment of the process, `file:/path` in a file, or in a store. */
export function createSecretReferences({
  readVariable,
  directories,
  stores = [],
}: ReferencesOptions): SecretReferences {
  const files = createPlainFiles({ directories, bytesMax: FILE_BYTES_MAX })
  const stored = createStoredSecrets(stores)
  const forms = ['env:NAME', 'file:/path', ...stores.map(({ form }) => form)]

  const findProblem = (reference: string): string | null => {
    const variable = VARIABLE.exec(reference)?.[1]
    if (variable !== undefined)
      return readVariable(variable) === null ? 'this variable is a setting of the gateway' : null
    const store = stored.storeOf(reference)
    if (store !== undefined) return store.findProblem(reference)
    const path = FILE.exec(reference)?.[1]
    return path === undefined ? `it is none of ${forms.join(', ')}` : files.findProblem(path)
  }

  const readNow = (reference: string): SecretReading => {
    const problem = findProblem(reference)
    if (problem !== null) return unreadable(problem)
    const variable = VARIABLE.exec(reference)?.[1]
    if (variable === undefined) {
      const file = files.read(reference.slice('file:'.length))
      return file.problem === null ? checked(file.text) : unreadable(file.problem)
    }
    const value = readVariable(variable)?.value
    return value === undefined || value === '' ? unreadable('the variable is not set') : checked(value)
  }

  const known = createKnownReadings({
    readNow,
    fingerprintOf: (reference) =>
      reference.startsWith('file:') ? fingerprintOfFile(reference.slice('file:'.length)) : '',
    isSame: (one, other) => one.secret === other.secret && one.problem === other.problem,
  })

  return {
    findProblem,
    read: (reference) =>
      stored.storeOf(reference) === undefined ? known.read(reference) : stored.read(reference),
    load: (references) => stored.load(references),
    refresh: () => {
      const isDifferent = stored.refresh()
      return known.refresh() || isDifferent
    },
    keep: (references) => {
      stored.keep(references)
      known.keep(references)
    },
  }
}
