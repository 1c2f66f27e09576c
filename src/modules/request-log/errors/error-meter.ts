import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from '../../../kernel/logger.ts'
import type { Queryable } from '../../../storage/database.ts'
import { floorHour } from '../../usage/usage.ts'
import type { FailedRequest } from '../failed-requests.ts'

interface Cell {
  readonly hourMs: number
  /** The last one. */
  request: FailedRequest
  requests: number
  firstAtMs: number
}

interface ErrorMeterOptions {
  readonly database: Queryable
  readonly logger: Logger
  readonly retentionDays: number
}

const FLUSH_INTERVAL_MS = 2_000
const SWEEP_INTERVAL_MS = 10 * 60_000
const CELLS_MAX = 10_000
const CELLS_AT_ONCE = 500
/** Further errors of an account in an hour are counted as one. */
const ERRORS_PER_ACCOUNT_MAX = 100
const OTHER_ERRORS = 'other'
const ACCOUNTS_MAX = 20_000
const KEPT_PER_ACCOUNT_MAX = 20_000
const BATCH_ROWS = 1_000
const BATCHES_MAX = 100

/** Counts equal errors in memory and adds them to the stored counts every few seconds. */
export class ErrorMeter {
  /** What is written belongs to all accounts, and not to the reader that asked for it. */
  readonly #runForAll = AsyncLocalStorage.snapshot()
  readonly #options: ErrorMeterOptions
  readonly #timers: readonly NodeJS.Timeout[]
  #cells = new Map<string, Cell>()
  #writing: Promise<void> = Promise.resolve()
  #countedHourMs = 0
  readonly #errorsOfAccounts = new Map<string, Set<string>>()

  constructor(options: ErrorMeterOptions) {
    this.#options = options
    const sweep = (): void => {
      this.sweep().catch((error: unknown) =>
        options.logger.warn({ err: error }, 'old counts of errors were not deleted'),
      )
    }
    this.#timers = [
      setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref(),
      setInterval(sweep, SWEEP_INTERVAL_MS).unref(),
    ]
  }

  note(request: FailedRequest): void {
    const hourMs = floorHour(request.createdAtMs)
    const errorKey = this.#boundedKey(request, hourMs)
    const { accountId, keyId, model, provider, operation, createdAtMs } = request
    const name = [accountId, hourMs, keyId, model, provider, operation, errorKey].join('\n')
    const cell = this.#cells.get(name)
    if (cell !== undefined) {
      cell.requests += 1
      cell.firstAtMs = Math.min(cell.firstAtMs, createdAtMs)
      if (createdAtMs >= cell.request.createdAtMs) cell.request = { ...request, errorKey }
    } else if (this.#cells.size < CELLS_MAX) {
      this.#cells.set(name, {
        hourMs,
        request: { ...request, errorKey },
        requests: 1,
        firstAtMs: createdAtMs,
      })
    }
  }

  /** Resolves when all requests noted before are counted. */
  flush(): Promise<void> {
    if (this.#cells.size > 0) {
      const cells = [...this.#cells]
      this.#cells = new Map()
      this.#writing = this.#runForAll(() => this.#writing.then(() => this.#write(cells)))
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

  #boundedKey({ accountId, errorKey }: FailedRequest, hourMs: number): string {
    if (hourMs > this.#countedHourMs) {
      this.#errorsOfAccounts.clear()
      this.#countedHourMs = hourMs
    }
    const known = this.#errorsOfAccounts.get(accountId)
    if (known?.has(errorKey) === true) return errorKey
    if (known === undefined) {
      if (this.#errorsOfAccounts.size >= ACCOUNTS_MAX) return OTHER_ERRORS
      this.#errorsOfAccounts.set(accountId, new Set([errorKey]))
      return errorKey
    }
    if (known.size >= ERRORS_PER_ACCOUNT_MAX) return OTHER_ERRORS
    known.add(errorKey)
    return errorKey
  }

  async #write(cells: readonly (readonly [string, Cell])[]): Promise<void> {
    // One order for all processes, so that they do not wait for each other in a circle.
    const rows = cells.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, cell]) => toRow(cell))
    for (let start = 0; start < rows.length; start += CELLS_AT_ONCE) {
      const batch = rows.slice(start, start + CELLS_AT_ONCE)
      try {
        await this.#options.database.query(ADD, [JSON.stringify(batch)])
      } catch (error) {
        this.#options.logger.warn({ err: error, rows: batch.length }, 'errors were not counted')
      }
    }
  }
}

function toRow({ hourMs, request, requests, firstAtMs }: Cell): object {
  return {
    account_id: request.accountId,
    hour: new Date(hourMs),
    key_id: request.keyId,
    model: request.model,
    provider: request.provider,
    operation: request.operation,
    error_key: request.errorKey,
    environment: request.environment,
    outcome: request.outcome,
    http_status: request.httpStatus,
    error_code: request.errorCode ?? '',
    upstream_status: request.upstreamStatus,
    upstream_code: request.upstreamCode,
    error_message: request.errorMessage,
    upstream_message: request.upstreamMessage,
    last_id: request.id,
    requests,
    first_at: new Date(firstAtMs),
    last_at: new Date(request.createdAtMs),
  }
}

const ADD = `
  INSERT INTO request_errors AS stored SELECT * FROM jsonb_populate_recordset(NULL::request_errors, $1::jsonb)
  ON CONFLICT (account_id, hour, key_id, model, provider, operation, error_key) DO UPDATE SET
    requests = stored.requests + excluded.requests,
    first_at = least(stored.first_at, excluded.first_at),
    last_at = greatest(stored.last_at, excluded.last_at),
    last_id = excluded.last_id,
    error_message = excluded.error_message,
    upstream_message = excluded.upstream_message`

const DELETE_OLD = `
  DELETE FROM request_errors WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM request_errors WHERE hour < now() - $1 * interval '1 day'
    ORDER BY hour LIMIT $2 FOR UPDATE SKIP LOCKED))
  RETURNING 1 AS one`

const FIND_CROWDED = 'SELECT account_id FROM request_errors GROUP BY account_id HAVING count(*) > $1'

const DELETE_SURPLUS = `
  DELETE FROM request_errors WHERE account_id = $1 AND hour <= (
    SELECT hour FROM request_errors WHERE account_id = $1 ORDER BY hour DESC OFFSET $2 LIMIT 1)`
