import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, QueryResultRow } from 'pg'
import type { Logger } from '../../kernel/logger.ts'
import { Turns } from '../../kernel/turns/turns.ts'
import { isConnectionLoss } from '../connection/connection-loss.ts'
import { connectionOf } from '../connection/database-address.ts'
import { MARK_PROCESS } from '../partitions/older-processes.ts'
import { READ_ONLY_COLUMN, requirePrimary, type ReadOnlyRow } from '../connection/require-primary.ts'
import { StorageError } from '../storage-error.ts'

export interface BusConnectionOptions {
  readonly connectionString: string
  readonly logger: Logger
  readonly channels: readonly string[]
  /** `sessionId` identifies the connection that received it. A new connection has a new id. */
  onNotification(notification: { channel: string; payload: string; sessionId: string }): void
  onLost(): void
}

/** Prefix of the application name by which listening sessions are found in `pg_stat_activity`. */
export const SESSION_PREFIX = 'parkway-bus:'

const CONNECT_TIMEOUT_MS = 5_000
const PAUSE_MS = 50
const PAUSE_MS_MAX = 2_000
const HEARTBEAT_MS = 2_000

/** One listening session that reconnects until it is closed. */
export class BusConnection {
  readonly #options: BusConnectionOptions
  readonly #waiting = new Set<() => void>()
  readonly #closing = new AbortController()
  #client: Client | null = null
  /** Serialises queries, because the driver accepts one at a time. */
  readonly #turns = new Turns()
  #heartbeat: NodeJS.Timeout | undefined

  constructor(options: BusConnectionOptions) {
    this.#options = options
  }

  /** Opens the first connection, which must succeed. Later ones are retried until one succeeds. */
  async open(): Promise<void> {
    await this.#connect()
    // A dead connection may not report an error, so send a query regularly and close the connection if it fails.
    this.#heartbeat = setInterval(() => {
      const client = this.#client
      if (client !== null) this.#turns.take(() => requireWrites(client)).catch(() => this.#lose(client))
    }, HEARTBEAT_MS)
    this.#heartbeat.unref()
  }

  isConnected(): boolean {
    return this.#client !== null
  }

  /** Runs a query. Waits up to `waitMs` for a connection. */
  async query<Row extends QueryResultRow>(
    sql: string,
    values: readonly unknown[],
    waitMs: number,
  ): Promise<Row[]> {
    const client = await this.#waitForClient(waitMs)
    try {
      return await this.#turns.take(async () => (await client.query<Row>(sql, [...values])).rows)
    } catch (error) {
      // The driver reports the end only later, and further queries must not use this connection.
      if (isConnectionLoss(error)) this.#lose(client)
      throw error
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#heartbeat)
    for (const wake of this.#waiting) wake()
    const client = this.#client
    this.#client = null
    await client?.end().catch(() => {})
  }

  async #connect(): Promise<void> {
    const { Client: HostClient, connectionString } = connectionOf(this.#options.connectionString)
    const client = new HostClient({
      connectionString,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    })
    const sessionId = randomUUID()
    const ended = new AbortController()
    const end = (): void => {
      ended.abort()
      this.#lose(client)
    }
    client.on('error', end)
    client.on('end', end)
    client.on('notification', ({ channel, payload = '' }) =>
      this.#options.onNotification({ channel, payload, sessionId }),
    )
    try {
      await client.connect()
      await requireWrites(client)
      for (const channel of this.#options.channels) await client.query(`LISTEN "${channel}"`)
      await client.query(MARK_PROCESS)
      // Set the name only now, because a listed session must be able to receive and acknowledge messages.
      await client.query(`SELECT set_config('application_name', $1, false)`, [SESSION_PREFIX + sessionId])
      ended.signal.throwIfAborted()
      this.#closing.signal.throwIfAborted()
    } catch (error) {
      void client.end().catch(() => {})
      throw error
    }
    this.#client = client
    for (const wake of this.#waiting) wake()
  }

  #lose(client: Client): void {
    if (this.#client !== client) return
    this.#client = null
    void client.end().catch(() => {})
    this.#options.logger.warn({}, 'message bus lost its connection')
    this.#options.onLost()
    void this.#reconnect()
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#closing
    for (let pauseMs = PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
      try {
        await delay(pauseMs * (0.5 + Math.random()), undefined, { signal })
        await this.#connect()
        this.#options.logger.info({}, 'message bus is connected again')
        return
      } catch (error) {
        if (!signal.aborted)
          this.#options.logger.warn({ err: error }, 'message bus cannot connect, trying again')
      }
    }
  }

  async #waitForClient(waitMs: number): Promise<Client> {
    if (this.#client === null && !this.#closing.signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, waitMs)
      this.#waiting.add(resolve)
      await promise
      clearTimeout(timer)
      this.#waiting.delete(resolve)
    }
    if (this.#client !== null) return this.#client
    throw new StorageError('disconnected', 'The message bus has no connection to the database.')
  }
}

/** Throws if the server is a standby, because a standby cannot send notifications. */
async function requireWrites(client: Client): Promise<void> {
  const { rows } = await client.query<ReadOnlyRow>(`SELECT ${READ_ONLY_COLUMN}`)
  requirePrimary(rows[0])
}
