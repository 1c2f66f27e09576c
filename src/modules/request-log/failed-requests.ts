import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../../storage/database.ts'
import { queueForExport } from '../../storage/export-queue/queue-for-export.ts'
import type { LogOutcome } from './log-entry.ts'

/** A request that ended without a charge. */
export interface FailedRequest {
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  readonly environment: string
  readonly operation: string
  readonly model: string
  readonly provider: string
  readonly outcome: Exclude<LogOutcome, 'completed'>
  readonly httpStatus: number
  readonly errorCode: string | null
  readonly latencyMs: number
  readonly firstTokenMs: number | null
  readonly details: string
  readonly createdAtMs: number
  readonly labels?: readonly string[] | undefined
  /** What the client was told. */
  readonly errorMessage: string | null
  /** What the last upstream that failed said. */
  readonly upstreamStatus: number | null
  readonly upstreamCode: string | null
  readonly upstreamMessage: string | null
  /** Equal for equal errors. */
  readonly errorKey: string
}

/** Why something is not in the log. */
type DropReason = 'minute_limit' | 'queue_full' | 'database'

export interface FailedRequestsOptions {
  readonly database: Database
  readonly logger: Logger
  readonly retentionDays: number
  /** Called with the number of requests that are not logged. */
  readonly onDropped: (reason: DropReason, count: number) => void
}

/** Of an account in a minute and process, so that refused requests cannot fill the disk. */
const LOGGED_PER_MINUTE_MAX = 60
const ACCOUNTS_COUNTED_MAX = 50_000
const MINUTE_MS = 60_000
const QUEUE_MAX = 5_000
const FLUSH_INTERVAL_MS = 1_000
const SWEEP_INTERVAL_MS = 10 * MINUTE_MS
/** More than this are deleted, the oldest first. */
const KEPT_PER_ACCOUNT_MAX = 20_000
const BATCH_ROWS = 1_000
const BATCHES_MAX = 100

/** Writes failed requests in batches, a moment after they ended, and deletes old ones. */
export class FailedRequests {
  /** What is written belongs to all accounts, and not to the reader that asked for it. */
  readonly #runForAll = AsyncLocalStorage.snapshot()
  readonly #options: FailedRequestsOptions
  readonly #timers: readonly NodeJS.Timeout[]
  #queue: FailedRequest[] = []
  #writing: Promise<void> = Promise.resolve()
  /** How many requests of each account were logged since `#minuteStartedMs`. */
  readonly #counts = new Map<string, number>()
  #minuteStartedMs = performance.now()

  constructor(options: FailedRequestsOptions) {
    this.#options = options
    const sweep = (): void => {
      this.sweep().catch((error: unknown) =>
        options.logger.warn({ err: error }, 'old failed requests were not deleted'),
      )
    }
    this.#timers = [
      setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref(),
      setInterval(sweep, SWEEP_INTERVAL_MS).unref(),
    ]
  }

  note(request: FailedRequest): void {
    if (!this.#isWithinMinute(request.accountId)) this.#options.onDropped('minute_limit', 1)
    else if (this.#queue.length >= QUEUE_MAX) this.#options.onDropped('queue_full', 1)
    else this.#queue.push(request)
  }

  /** Resolves when all requests noted before are written or dropped. */
  flush(): Promise<void> {
    if (this.#queue.length > 0) {
      const batch = this.#queue
      this.#queue = []
      this.#writing = this.#runForAll(() => this.#writing.then(() => this.#write(batch)))
    }
    return this.#writing
  }

  async sweep(): Promise<void> {
    const { database, retentionDays } = this.#options
    for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
      const old = await database.query(DELETE_OLD, [retentionDays, BATCH_ROWS])
      if (old.length < BATCH_ROWS) break
    }
    const crowded = await database.query<{ account_id: string }>(FIND_CROWDED, [KEPT_PER_ACCOUNT_MAX])
    for (const { account_id: accountId } of crowded)
      await database.query(DELETE_SURPLUS, [accountId, KEPT_PER_ACCOUNT_MAX])
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.flush()
  }

  #isWithinMinute(accountId: string): boolean {
    const nowMs = performance.now()
    if (nowMs - this.#minuteStartedMs >= MINUTE_MS) {
      this.#counts.clear()
      this.#minuteStartedMs = nowMs
    }
    const count = this.#counts.get(accountId) ?? 0
    if (count >= LOGGED_PER_MINUTE_MAX || (count === 0 && this.#counts.size >= ACCOUNTS_COUNTED_MAX))
      return false
    this.#counts.set(accountId, count + 1)
    return true
  }

  async #write(batch: readonly FailedRequest[]): Promise<void> {
    const { database, logger, onDropped } = this.#options
    try {
      await database.query(WRITE, [JSON.stringify(batch.map(toColumns))])
    } catch (error) {
      onDropped('database', batch.length)
      logger.warn({ err: error, requests: batch.length }, 'failed requests were not logged')
    }
  }
}

function toColumns(request: FailedRequest): object {
  return {
    account_id: request.accountId,
    id: request.id,
    key_id: request.keyId,
    environment: request.environment,
    operation: request.operation,
    model: request.model,
    provider: request.provider,
    outcome: request.outcome,
    http_status: request.httpStatus,
    error_code: request.errorCode,
    latency_ms: request.latencyMs,
    first_token_ms: request.firstTokenMs,
    details: request.details,
    created_at: new Date(request.createdAtMs),
    labels: request.labels,
    error_message: request.errorMessage,
    upstream_status: request.upstreamStatus,
    upstream_code: request.upstreamCode,
    upstream_message: request.upstreamMessage,
    error_key: request.errorKey,
  }
}

// A request that is repeated under its id keeps its first failure.
const WRITE = `
  WITH written AS (
    INSERT INTO failed_requests SELECT * FROM jsonb_populate_recordset(NULL::failed_requests, $1::jsonb)
    ON CONFLICT DO NOTHING RETURNING account_id, id
  ), ${queueForExport('written', { isCharged: false })} SELECT`

// Days are dropped as partitions when all of their requests are old. These are of a table without such partitions.
const DELETE_OLD = `
  DELETE FROM failed_requests WHERE (account_id, id) IN (
    SELECT account_id, id FROM failed_requests WHERE created_at < now() - ($1 + 1) * interval '1 day'
    ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING 1 AS one`

const FIND_CROWDED = 'SELECT account_id FROM failed_requests GROUP BY account_id HAVING count(*) > $1'

const DELETE_SURPLUS = `
  DELETE FROM failed_requests WHERE account_id = $1 AND id <= (
    SELECT id FROM failed_requests WHERE account_id = $1 ORDER BY id DESC OFFSET $2 LIMIT 1)`
