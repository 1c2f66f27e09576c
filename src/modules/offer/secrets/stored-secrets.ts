import { unreadable, type SecretReading } from './secret-reading.ts'
import { SecretStoreAway, type SecretStore } from './secret-store.ts'

/** Secrets of stores that are reached over the network, as they were read last. */
export interface StoredSecrets {
  /** Returns the store of a reference, or undefined if it is of another kind. */
  storeOf(reference: string): SecretStore | undefined
  read(reference: string): SecretReading
  /** Reads those that are not known yet. Returns when they are read, or could not be. */
  load(references: readonly string[]): Promise<void>
  /** Begins to read again what is due, and returns whether anything is different since the last call. */
  refresh(): boolean
  keep(references: ReadonlySet<string>): void
}

interface KnownSecret {
  reading: SecretReading
  /** By the monotonic clock. */
  nextMs: number
}

/** A rotated secret is used within this time. */
const REFRESH_MS = 60_000
/** A store that was away is asked again after this time. */
const RETRY_MS = 10_000
const NOT_READ = unreadable('it is not read yet')

export function createStoredSecrets(
  stores: readonly SecretStore[],
  { refreshMs, retryMs } = { refreshMs: REFRESH_MS, retryMs: RETRY_MS },
): StoredSecrets {
  const known = new Map<string, KnownSecret>()
  const reading = new Map<string, Promise<void>>()
  let isDifferent = false

  const storeOf = (reference: string) => stores.find(({ prefix }) => reference.startsWith(prefix))

  const readOnce = async (store: SecretStore, reference: string): Promise<void> => {
    const before = known.get(reference)?.reading
    const now = await readOrKeep(store, reference, before)
    const isSame = before?.secret === now.secret && before?.problem === now.problem
    if (!isSame) isDifferent = true
    known.set(reference, {
      reading: now,
      nextMs: performance.now() + (now.problem === null ? refreshMs : retryMs),
    })
  }
  /** Several callers wait for one reading. */
  const readShared = (reference: string): Promise<void> => {
    const store = storeOf(reference)
    if (store === undefined || store.findProblem(reference) !== null) return Promise.resolve()
    let current = reading.get(reference)
    if (current === undefined) {
      current = readOnce(store, reference).finally(() => reading.delete(reference))
      reading.set(reference, current)
    }
    return current
  }

  return {
    storeOf,
    read: (reference) => known.get(reference)?.reading ?? NOT_READ,
    load: async (references) => {
      await Promise.all(references.filter((reference) => !known.has(reference)).map(readShared))
    },
    refresh: () => {
      const nowMs = performance.now()
      for (const [reference, { nextMs }] of known) if (nextMs <= nowMs) void readShared(reference)
      const wasDifferent = isDifferent
      isDifferent = false
      return wasDifferent
    },
    keep: (references) => {
      for (const reference of known.keys()) if (!references.has(reference)) known.delete(reference)
    },
  }
}

/** While the store is away, the secret of before stays in use, and the problem is told. */
async function readOrKeep(
  store: SecretStore,
  reference: string,
  before: SecretReading | undefined,
): Promise<SecretReading> {
  try {
    return await store.read(reference)
  } catch (error) {
    const problem = error instanceof SecretStoreAway ? error.message : 'the store could not be read'
    return { secret: before?.secret ?? null, problem }
  }
}
