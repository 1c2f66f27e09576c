import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from '../../kernel/logger.ts'
import type { Queryable } from '../../storage/database.ts'
import { addUpSql, HOURS_KEPT_DAYS, latencyBucketOf, packHistogram } from './latency-buckets.ts'
import { floorHour } from './usage-range.ts'

/** A completed request. */
export interface MeasuredRequest {
  readonly accountId: string
  readonly keyId: string
  readonly environment: string
  readonly operation: string
  readonly model: string
  readonly provider: string
  readonly latencyMs: number
  readonly firstTokenMs: number | null
  readonly createdAtMs: number
}

/** The histograms of requests of one hour with the same names. */
interface Cell {
  readonly request: MeasuredRequest
  readonly hourMs: number
  readonly latency: Map<number, number>
  readonly firstToken: Map<number, number>
}

interface LatencyMeterOptions {
  readonly database: Queryable
  readonly logger: Logger
}

const FLUSH_INTERVAL_MS = 5_000
const FOLD_INTERVAL_MS = 60 * 60_000
/** Further cells are not counted until the next flush. */
const CELLS_MAX = 20_000
const CELLS_AT_ONCE = 1_000
const FOLD_ROWS = 2_000
const FOLDS_MAX = 100

/**
 * Counts durations in memory and adds them to the stored histograms every few seconds: percentiles may lack the last seconds of
 * a process that is killed, and cost a request no write.
 */
export class LatencyMeter {
  /** What is written belongs to all accounts, and not to the reader that asked for it. */
  readonly #runForAll = AsyncLocalStorage.snapshot()
  readonly #options: LatencyMeterOptions
  readonly #timers: readonly NodeJS.Timeout[]
  #cells = new Map<string, Cell>()
  /** Mostly the next request belongs to the same cell. */
  #last: Cell | null = null
  #writing: Promise<void> = Promise.resolve()

  constructor(options: LatencyMeterOptions) {
    this.#options = options
    const fold = (): void => {
      this.fold().catch((error: unknown) =>
        options.logger.warn({ err: error }, 'old latencies were not added up'),
      )
    }
    this.#timers = [
      setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref(),
      setInterval(fold, FOLD_INTERVAL_MS).unref(),
    ]
  }

  note(request: MeasuredRequest): void {
    const hourMs = floorHour(request.createdAtMs)
    const cell =
      this.#last !== null && isOf(this.#last, request, hourMs) ? this.#last : this.#find(request, hourMs)
    if (cell === null) return
    this.#last = cell
    add(cell.latency, latencyBucketOf(request.latencyMs), 1)
    if (request.firstTokenMs !== null) add(cell.firstToken, latencyBucketOf(request.firstTokenMs), 1)
  }

  /** Resolves when all requests noted before are stored. */
  flush(): Promise<void> {
    if (this.#cells.size > 0) {
      const cells = [...this.#cells.values()]
      this.#cells = new Map()
      this.#last = null
      this.#writing = this.#runForAll(() => this.#writing.then(() => this.#write(cells)))
    }
    return this.#writing
  }

  /** Adds up hours of the past by day. */
  async fold(): Promise<void> {
    for (let count = 0; count < FOLDS_MAX; count += 1) {
      const [row] = await this.#options.database.query<{ moved: bigint }>(FOLD, [HOURS_KEPT_DAYS, FOLD_ROWS])
      if (Number(row?.moved ?? 0) < FOLD_ROWS) return
    }
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.flush()
  }

  #find(request: MeasuredRequest, hourMs: number): Cell | null {
    const { accountId, keyId, model, provider, operation } = request
    const name = [accountId, hourMs, keyId, model, provider, operation].join('\n')
    const known = this.#cells.get(name)
    if (known !== undefined) return known
    if (this.#cells.size >= CELLS_MAX) return null
    const cell = {
      request,
      hourMs,
      latency: new Map<number, number>(),
      firstToken: new Map<number, number>(),
    }
    this.#cells.set(name, cell)
    return cell
  }

  async #write(cells: Cell[]): Promise<void> {
    // One order for all processes, so that they do not wait for each other in a circle.
    const rows = cells.map(toRow).toSorted((a, b) => (a.order < b.order ? -1 : 1))
    for (let start = 0; start < rows.length; start += CELLS_AT_ONCE) {
      const batch = rows.slice(start, start + CELLS_AT_ONCE)
      try {
        await this.#options.database.query(ADD, [JSON.stringify(batch)])
      } catch (error) {
        this.#options.logger.warn({ err: error, rows: batch.length }, 'latencies were not stored')
      }
    }
  }
}

function isOf({ request: known, hourMs: hour }: Cell, request: MeasuredRequest, hourMs: number): boolean {
  return (
    hour === hourMs &&
    known.accountId === request.accountId &&
    known.keyId === request.keyId &&
    known.model === request.model &&
    known.provider === request.provider &&
    known.operation === request.operation
  )
}

function add(counts: Map<number, number>, bucket: number, count: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + count)
}

function toRow({ request, hourMs, latency, firstToken }: Cell) {
  const { accountId, keyId, model, provider, operation, environment } = request
  return {
    account_id: accountId,
    hour: new Date(hourMs).toISOString(),
    key_id: keyId,
    model,
    provider,
    operation,
    environment,
    latency: packHistogram(latency),
    first_token: packHistogram(firstToken),
    order: [accountId, hourMs, keyId, model, provider, operation].join('\n'),
  }
}

const ADD = `
  INSERT INTO latency_rollups AS stored
  SELECT account_id, hour, key_id, model, provider, operation, environment, latency, first_token
  FROM jsonb_populate_recordset(NULL::latency_rollups, $1::jsonb)
  ON CONFLICT (account_id, hour, key_id, model, provider, operation) DO UPDATE SET
    latency = ${addUpSql('stored.latency || excluded.latency')},
    first_token = ${addUpSql('stored.first_token || excluded.first_token')}`

const FOLD = `
  WITH moved AS (
    DELETE FROM latency_rollups WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM latency_rollups WHERE hour < date_trunc('day', now() - $1 * interval '1 day', 'UTC')
      ORDER BY hour LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING *, date_trunc('day', hour, 'UTC') AS day
  ), counts AS (
    SELECT moved.*, packed, true AS is_whole FROM moved, unnest(latency) AS packed
    UNION ALL SELECT moved.*, packed, false FROM moved, unnest(first_token) AS packed
  ), days AS (
    SELECT account_id, day, key_id, model, provider, operation, min(environment) AS environment,
      array_agg(packed) FILTER (WHERE is_whole) AS latency,
      coalesce(array_agg(packed) FILTER (WHERE NOT is_whole), '{}') AS first_token
    FROM counts GROUP BY account_id, day, key_id, model, provider, operation
  ), folded AS (
    INSERT INTO latency_days AS stored
    SELECT account_id, day, key_id, model, provider, operation, environment, ${addUpSql('latency')}, ${addUpSql('first_token')}
    FROM days ORDER BY account_id, day, key_id, model, provider, operation
    ON CONFLICT (account_id, day, key_id, model, provider, operation) DO UPDATE SET
      latency = ${addUpSql('stored.latency || excluded.latency')},
      first_token = ${addUpSql('stored.first_token || excluded.first_token')}
  )
  SELECT count(*) AS moved FROM moved`
