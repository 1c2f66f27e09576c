import { setTimeout as delay } from 'node:timers/promises'
import type { ClientBase, Pool, PoolClient, QueryResultRow } from 'pg'
import type { Logger } from '../../kernel/logger.ts'
import type { Database, KeptConnection, Queryable } from '../database.ts'
import { isConnectionLoss, isPassingRefusal } from './connection-loss.ts'
import { ConnectionShares } from './connection-shares.ts'
import { createPool } from './create-pool.ts'
import {
  isReadOnly,
  isReadOnlyRefusal,
  READ_ONLY_COLUMN,
  requirePrimary,
  type ReadOnlyRow,
} from './require-primary.ts'
import { errorCodeOf, messageOf, StorageError } from '../storage-error.ts'
import { createStatementNames } from './statement-names.ts'
import { writeRows } from './write-command.ts'

interface ConnectDatabaseOptions {
  readonly connectionString: string
  readonly poolSize: number
  readonly statementTimeoutMs: number
  readonly logger?: Logger
  /** How long a query may wait for a connection, including a restart of the server. */
  readonly connectTimeoutMs?: number
  /** Parses and plans each statement once per connection. Off for poolers that share connections between transactions. */
  readonly prepareStatements?: boolean
  /** Whether a server that takes no writes will do. */
  readonly isForReading?: boolean
}

const TRANSACTION_ATTEMPTS_MAX = 8
const RETRY_PAUSE_MS = 5
const RETRY_PAUSE_MS_MAX = 200
const CONNECT_PAUSE_MS = 25
const CONNECT_PAUSE_MS_MAX = 500

/** Creates a connection pool for PostgreSQL 14 or newer. Connects on first use, and reconnects when the server is back. */
export function connectDatabase(options: ConnectDatabaseOptions): PooledDatabase {
  return new PooledDatabase(options)
}

/** The connections of a pool, and the queries that wait for one. */
export interface PoolState {
  readonly size: number
  readonly inUse: number
  readonly waiting: number
}

type Attempt<Result> = { done: true; result: Result } | { done: false; error: unknown; isAgain: boolean }

/** A connection that was taken from the pool. */
interface Lease {
  readonly client: PoolClient
  readonly release: (isBroken?: boolean) => void
}

export class PooledDatabase implements Database {
  readonly shares: ConnectionShares
  readonly #pool: Pool
  readonly #connectTimeoutMs: number
  readonly #nameStatement: (sql: string) => string | undefined
  readonly #connectedAtMs = new WeakMap<ClientBase, number>()
  #staleBeforeMs = 0

  constructor(options: ConnectDatabaseOptions) {
    this.shares = new ConnectionShares(options)
    this.#connectTimeoutMs = options.connectTimeoutMs ?? 5_000
    this.#nameStatement = options.prepareStatements ? createStatementNames() : () => undefined
    this.#pool = createPool(options, this.#connectTimeoutMs)
    this.#pool.on('connect', (client) => this.#connectedAtMs.set(client, performance.now()))
    this.#pool.on('error', (error) => {
      // A server that stops while the pool is closing needs no warning.
      if (!this.#pool.ending) {
        // Do not log the error itself: the driver attaches the connection to it, with its secrets.
        options.logger?.warn(
          { code: errorCodeOf(error), reason: messageOf(error) },
          'idle database connection lost',
        )
      }
    })
  }

  async query<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    const { client, release } = await this.#lease()
    try {
      const rows = await this.#run<Row>(client, sql, values)
      release()
      return rows
    } catch (error) {
      const isLost = isConnectionLoss(error)
      if (isReadOnlyRefusal(error)) this.#forgetConnections()
      release(isLost)
      throw isLost && mayWrite(sql) && !isReadOnlyRefusal(error) ? outcomeUnknown(error) : error
    }
  }

  async transaction<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(work)
      if (outcome.done) return outcome.result
      if (!outcome.isAgain || attempt === TRANSACTION_ATTEMPTS_MAX) throw outcome.error
      await delay(Math.random() * Math.min(RETRY_PAUSE_MS * 2 ** attempt, RETRY_PAUSE_MS_MAX))
    }
  }

  async keepConnection(): Promise<KeptConnection> {
    const client = await this.#acquire()
    let isLost = false
    const onEnd = () => {
      isLost = true
    }
    client.once('end', onEnd)
    return {
      get isLost() {
        return isLost
      },
      openedAtMs: this.#connectedAtMs.get(client) ?? performance.now(),
      query: (sql, values = []) => this.#run(client, sql, values),
      write: (text, values) => {
        const name = this.#nameStatement(text)
        return name === undefined
          ? writeUnprepared(client, text, values)
          : writeRows(client, { name, text, values })
      },
      release: (isBroken, isHanging = false) => {
        client.off('end', onEnd)
        if (isHanging) this.#forgetConnections()
        client.release(isBroken || isLost)
      },
    }
  }

  async ping(): Promise<void> {
    const [row] = await this.query<ReadOnlyRow>(`SELECT ${READ_ONLY_COLUMN}`)
    if (isReadOnly(row)) this.#forgetConnections()
    requirePrimary(row)
  }

  /** Closes all connections, because the server no longer accepts writes. */
  #forgetConnections(): void {
    this.#staleBeforeMs = performance.now()
    const drop = (client: PoolClient): void => client.release(true)
    for (let idle = this.#pool.idleCount; idle > 0; idle -= 1) void this.#pool.connect().then(drop, () => {})
  }

  /** Takes a connection when it is the turn of the account for which this runs. */
  async #lease(): Promise<Lease> {
    const leave = await this.shares.enter()
    try {
      const client = await this.#acquire()
      return {
        client,
        release: (isBroken) => {
          client.release(isBroken)
          leave()
        },
      }
    } catch (error) {
      leave()
      throw error
    }
  }

  async #acquire(): Promise<PoolClient> {
    for (;;) {
      const client = await acquireClient(this.#pool, this.#connectTimeoutMs)
      if ((this.#connectedAtMs.get(client) ?? Number.POSITIVE_INFINITY) >= this.#staleBeforeMs) return client
      client.release(true)
    }
  }

  get poolState(): PoolState {
    const { totalCount, idleCount, waitingCount, options } = this.#pool
    return { size: options.max, inUse: totalCount - idleCount, waiting: waitingCount }
  }

  async close(): Promise<void> {
    if (!this.#pool.ended && !this.#pool.ending) await this.#pool.end()
  }

  async #attempt<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Attempt<Result>> {
    const { client, release } = await this.#lease()
    let isCommitting = false
    let isLost = false
    try {
      await client.query('BEGIN')
      const transaction: Queryable = { query: (sql, values = []) => this.#run(client, sql, values) }
      const result = await this.shares.runWithConnection(() => work(transaction))
      isCommitting = true
      const { command } = await client.query('COMMIT')
      if (command !== 'COMMIT') throw notCommitted()
      return { done: true, result }
    } catch (error) {
      isLost = isConnectionLoss(error) || !(await rollBack(client))
      if (isReadOnlyRefusal(error)) this.#forgetConnections()
      // If the connection is lost during the commit, the outcome is unknown, and a retry could do the work twice.
      const isAgain = isConflict(error) || (isConnectionLoss(error) && !isCommitting)
      const isUnknown = isCommitting && isConnectionLoss(error) && !isReadOnlyRefusal(error)
      return { done: false, error: isUnknown ? outcomeUnknown(error) : error, isAgain }
    } finally {
      release(isLost)
    }
  }

  async #run<Row extends QueryResultRow>(
    client: PoolClient,
    text: string,
    values: readonly unknown[],
  ): Promise<Row[]> {
    const name = this.#nameStatement(text)
    const result = await client.query<Row>({
      text,
      values: [...values],
      ...(name === undefined ? {} : { name }),
    })
    return result.rows
  }
}

async function writeUnprepared(client: PoolClient, text: string, values: readonly string[]): Promise<void> {
  await client.query(text, [...values])
}

function isConflict(error: unknown): boolean {
  const code = errorCodeOf(error)
  return code === '40001' || code === '40P01'
}

// PostgreSQL answers a commit after a failed statement with a rollback and no error.
function notCommitted(): StorageError {
  return new StorageError(
    'not_committed',
    'The transaction was rolled back: a failed statement in it was ignored.',
  )
}

/** Returns whether a statement may change data. Other statements can safely be sent again. */
export function mayWrite(sql: string): boolean {
  return /\b(INSERT|UPDATE|DELETE)\b/i.test(sql)
}

function outcomeUnknown(cause: unknown): StorageError {
  const message = `The connection was lost before the database confirmed a change: ${messageOf(cause)}`
  return new StorageError('outcome_unknown', message, { cause })
}

async function rollBack(client: PoolClient): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  )
}

/** Gets a connection and retries while the server restarts. This is safe, because nothing has been sent yet. */
async function acquireClient(pool: Pool, timeoutMs: number): Promise<PoolClient> {
  const deadlineMs = performance.now() + timeoutMs
  for (let pauseMs = CONNECT_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, CONNECT_PAUSE_MS_MAX)) {
    try {
      return await pool.connect()
    } catch (error) {
      const isLast = !isPassingRefusal(error) || performance.now() + pauseMs > deadlineMs
      if (isLast) throw isPoolExhausted(error) ? error : unreachable(error)
      await delay(pauseMs)
    }
  }
}

/** Returns whether the query timed out waiting for a pool connection. The server may be healthy. */
export function isPoolExhausted(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}

function unreachable(error: unknown): unknown {
  if (error instanceof StorageError) return error
  return new StorageError('unreachable_database', `The database cannot be reached: ${messageOf(error)}`, {
    cause: error,
  })
}
