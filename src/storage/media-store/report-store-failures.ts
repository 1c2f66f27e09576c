import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import { StorageError } from '../storage-error.ts'
import { requireStoreKey, type MediaStore } from './media-store.ts'

/** The store of files does not work. Work that needs it can wait. */
export class StoreUnavailable extends AppError {
  constructor(cause: unknown) {
    const isFull = cause instanceof StorageError && cause.code === 'no_space'
    const message = isFull
      ? 'The gateway has no room left for files. Its operator must make some.'
      : 'The gateway cannot reach its store of files. Try again shortly.'
    super('service_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause })
  }
}

export interface StoreObserver {
  /** Called for each operation that failed because of the store. */
  failed(operation: string): void
  /** Called when the store begins or ceases to work. */
  changed(isWorking: boolean): void
}

export interface WatchedStore extends MediaStore {
  /** Throws `StoreUnavailable` if the last operation and another probe failed. Call it before work whose result is stored. */
  requireWorking(): Promise<void>
}

interface ReportOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly observer: StoreObserver
}

const RETRY_AFTER_SECONDS = 5
/** The store is probed at most this often, because the readiness route needs no key. */
const PROBE_MS = 5_000

/**
 * Wraps a store so that its failures become `StoreUnavailable`. During an outage one call at a time tries and the others fail at
 * once, so that waiting requests do not pile up.
 */
export function reportStoreFailures(
  store: MediaStore,
  { clock, logger, observer }: ReportOptions,
): WatchedStore {
  let failure: unknown = null
  let callsRunning = 0
  let probe: { readonly atMs: number; readonly result: Promise<void> } | null = null
  observer.changed(true)

  const watch = async <Result>(operation: string, call: () => Promise<Result>): Promise<Result> => {
    if (failure !== null && callsRunning > 0) throw new StoreUnavailable(failure)
    callsRunning += 1
    try {
      const result = await call()
      if (failure !== null) {
        logger.info({}, 'the store of files works again')
        observer.changed(true)
      }
      failure = null
      return result
    } catch (error) {
      if (error instanceof SourceFailed) throw error.cause
      if (failure === null) {
        logger.error({ err: error, operation }, 'the store of files does not work')
        observer.changed(false)
      }
      failure = error
      observer.failed(operation)
      throw new StoreUnavailable(error)
    } finally {
      callsRunning -= 1
    }
  }

  const check = (): Promise<void> => {
    const nowMs = clock.monotonicMs()
    if (probe === null || nowMs - probe.atMs > PROBE_MS)
      probe = { atMs: nowMs, result: watch('check', () => store.check()) }
    return probe.result
  }

  return {
    put: async (key, source, contentType) => {
      requireStoreKey(key)
      return watch('put', () => store.put(key, markFailures(source), contentType))
    },
    open: async (key, range) => {
      requireStoreKey(key)
      return watch('open', () => store.open(key, range))
    },
    exists: async (key) => {
      requireStoreKey(key)
      return watch('exists', () => store.exists(key))
    },
    delete: async (key) => {
      requireStoreKey(key)
      return watch('delete', () => store.delete(key))
    },
    check,
    requireWorking: async () => {
      if (failure !== null) await check()
    },
    removeUnfinished: (before) => watch('remove_unfinished', () => store.removeUnfinished(before)),
    close: () => store.close(),
  }
}

/** The source of a file failed, not the store. */
class SourceFailed extends Error {
  override readonly name = 'SourceFailed'
}

async function* markFailures(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* source
  } catch (cause) {
    throw new SourceFailed('the source of a file failed', { cause })
  }
}
