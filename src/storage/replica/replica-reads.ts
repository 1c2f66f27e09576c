import { AsyncLocalStorage } from 'node:async_hooks'
import type { QueryResultRow } from 'pg'
import type { Logger } from '../../kernel/logger.ts'
import type { PooledDatabase } from '../connection/connect-database.ts'
import type { Queryable } from '../database.ts'
import { errorCodeOf, messageOf, StorageError } from '../storage-error.ts'
import { ReplicaWatch, type ReplicaState, type ReplicaWatchOptions } from './replica-watch.ts'

/** Reads that may be a bounded time old, from a replica where there is one that is recent enough, otherwise from the primary. */
export interface ReplicaReads {
  /** Reads from the replica inside of `run`, if that was decided there. */
  readonly reader: Queryable
  /** Whether this work reads from the replica. */
  readonly isStale: boolean
  /**
   * Runs work of an account whose reads may be old. If they come from the replica, `note` is called first, with the moment up to
   * which they know everything.
   */
  run<Result>(accountId: string, note: (asOfMs: number) => void, work: () => Promise<Result>): Promise<Result>
  /** Null without a replica. */
  readonly state: ReplicaState | null
  close(): Promise<void>
}

type PooledReplica = Pick<PooledDatabase, 'query' | 'shares' | 'close'>

interface ReplicaReadsOptions extends Omit<ReplicaWatchOptions, 'replica'> {
  readonly replica: PooledReplica
  readonly logger: Logger
}

export function createReplicaReads(options: ReplicaReadsOptions): ReplicaReads {
  return new WatchedReplica(options)
}

/** Without a replica everything is read from the primary. */
export function readPrimaryOnly(primary: Queryable): ReplicaReads {
  return {
    reader: primary,
    isStale: false,
    run: (_accountId, _note, work) => work(),
    state: null,
    close: async () => {},
  }
}

/** A statement that takes too long there takes too long at the primary. */
const STATEMENT_TIMEOUT = '57014'
/** What an older or newer schema, a conflict with what is replayed, or a lost connection cause is not the statement's fault. */
const isFinal = (error: unknown): boolean => errorCodeOf(error) === STATEMENT_TIMEOUT

class WatchedReplica implements ReplicaReads {
  readonly reader: Queryable
  readonly #options: ReplicaReadsOptions
  readonly #watch: ReplicaWatch
  readonly #context = new AsyncLocalStorage<boolean>()

  constructor(options: ReplicaReadsOptions) {
    this.#options = options
    this.#watch = new ReplicaWatch(options)
    this.reader = { query: (sql, values) => this.#query(sql, values) }
  }

  get isStale(): boolean {
    return this.#context.getStore() === true
  }

  get state(): ReplicaState {
    return this.#watch.state
  }

  run<Result>(
    accountId: string,
    note: (asOfMs: number) => void,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const asOfMs = this.#watch.choose()
    if (asOfMs === null) return work()
    note(asOfMs)
    return this.#context.run(true, () => this.#options.replica.shares.runFor(accountId, work))
  }

  async close(): Promise<void> {
    await this.#watch.close()
    await this.#options.replica.close()
  }

  async #query<Row extends QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]> {
    const { primary, replica, logger } = this.#options
    if (!this.isStale || !this.#watch.isUsable) return primary.query<Row>(sql, values)
    const reading = replica.query<Row>(sql, values)
    try {
      // A replica that hangs is noticed by the watch, long before its statement times out.
      return await Promise.race([reading, this.#watch.lost])
    } catch (error) {
      reading.catch(() => {})
      if (isFinal(error)) throw error
      this.#watch.noteFailure()
      const isLoss = error instanceof StorageError && error.code === 'replica_lost'
      if (!isLoss) logger.warn({ reason: messageOf(error) }, 'a read of the replica failed; it is repeated')
      return primary.query<Row>(sql, values)
    }
  }
}
