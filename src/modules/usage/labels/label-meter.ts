import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from '../../../kernel/logger.ts'
import type { Queryable } from '../../../storage/database.ts'
import { addUpSql, HOURS_KEPT_DAYS, latencyBucketOf, packHistogram } from '../latency-buckets.ts'
import { floorHour } from '../usage-range.ts'
import { BoundedLabels } from './bounded-labels.ts'

/** A request of which figures are counted by its tags. */
interface Labelled {
  readonly accountId: string
  readonly keyId: string
  readonly model: string
  readonly createdAtMs: number
  readonly labels?: readonly string[] | null | undefined
}

export interface LabelledRequest extends Labelled {
  readonly latencyMs: number
  readonly firstTokenMs: number | null
}

export interface LabelledError extends Labelled {
  readonly outcome: string
  readonly httpStatus: number
  readonly errorCode: string | null
}

interface LatencyCell {
  readonly latency: Map<number, number>
  readonly firstToken: Map<number, number>
}

interface ErrorCell {
  requests: number
  firstAtMs: number
  lastAtMs: number
}

interface LabelMeterOptions {
  readonly database: Queryable
  readonly logger: Logger
  readonly errorRetentionDays: number
}

const FLUSH_INTERVAL_MS = 5_000
const SWEEP_INTERVAL_MS = 10 * 60_000
/** Further ones are not counted until the next flush. */
const CELLS_MAX = 20_000
const CELLS_AT_ONCE = 1_000
const BATCH_ROWS = 1_000
const BATCHES_MAX = 100

/** Counts errors and durations by tag in memory, and adds them to the stored ones every few seconds. Requests without tags cost nothing. */
export class LabelMeter {
  /** What is written belongs to all accounts, and not to the reader that asked for it. */
  readonly #runForAll = AsyncLocalStorage.snapshot()
  readonly #options: LabelMeterOptions
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #labels = new BoundedLabels()
  #latencies = new Map<string, LatencyCell>()
  #errors = new Map<string, ErrorCell>()
  #writing: Promise<void> = Promise.resolve()

  constructor(options: LabelMeterOptions) {
    this.#options = options
    const sweep = (): void => {
      this.sweep().catch((error: unknown) =>
        options.logger.warn({ err: error }, 'old figures of tags were not deleted'),
      )
    }
    this.#timers = [
      setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref(),
      setInterval(sweep, SWEEP_INTERVAL_MS).unref(),
    ]
  }

  noteLatency(request: LabelledRequest): void {
    for (const key of this.#keysOf(request, [])) {
      const cell = findCell(this.#latencies, key, () => ({ latency: new Map(), firstToken: new Map() }))
      if (cell === null) return
      count(cell.latency, request.latencyMs)
      if (request.firstTokenMs !== null) count(cell.firstToken, request.firstTokenMs)
    }
  }

  noteError(request: LabelledError): void {
    const { outcome, httpStatus, errorCode, createdAtMs } = request
    for (const key of this.#keysOf(request, [outcome, httpStatus, errorCode ?? ''])) {
      const cell = findCell(this.#errors, key, () => ({
        requests: 0,
        firstAtMs: createdAtMs,
        lastAtMs: createdAtMs,
      }))
      if (cell === null) return
      cell.requests += 1
      cell.firstAtMs = Math.min(cell.firstAtMs, createdAtMs)
      cell.lastAtMs = Math.max(cell.lastAtMs, createdAtMs)
    }
  }

  /** Resolves when everything noted before is stored. */
  flush(): Promise<void> {
    if (this.#latencies.size + this.#errors.size > 0) {
      const latencies = rowsOf(this.#latencies, ({ latency, firstToken }) => ({
        latency: packHistogram(latency),
        first_token: packHistogram(firstToken),
      }))
      const errors = rowsOf(this.#errors, ({ requests, firstAtMs, lastAtMs }) => ({
        requests,
        first_at: new Date(firstAtMs),
        last_at: new Date(lastAtMs),
      }))
      this.#latencies = new Map()
      this.#errors = new Map()
      this.#writing = this.#runForAll(() =>
        this.#writing.then(async () => {
          await this.#write(ADD_LATENCIES, latencies)
          await this.#write(ADD_ERRORS, errors)
        }),
      )
    }
    return this.#writing
  }

  async sweep(): Promise<void> {
    const { database, errorRetentionDays } = this.#options
    const kept = [
      ['latency_by_label', HOURS_KEPT_DAYS],
      ['errors_by_label', errorRetentionDays],
    ] as const
    for (const [table, days] of kept) {
      for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
        const old = await database.query(deleteOld(table), [days, BATCH_ROWS])
        if (old.length < BATCH_ROWS) break
      }
    }
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.flush()
  }

  #keysOf(request: Labelled, rest: readonly unknown[]): string[] {
    if (request.labels === null || request.labels === undefined || request.labels.length === 0) return []
    const { accountId, keyId, model, createdAtMs } = request
    const labels = this.#labels.bound(accountId, request.labels, createdAtMs)
    const hourMs = floorHour(createdAtMs)
    return [...labels].map((label) => JSON.stringify([accountId, hourMs, label, keyId, model, ...rest]))
  }

  async #write(statement: string, rows: readonly object[]): Promise<void> {
    for (let start = 0; start < rows.length; start += CELLS_AT_ONCE) {
      const batch = rows.slice(start, start + CELLS_AT_ONCE)
      try {
        await this.#options.database.query(statement, [JSON.stringify(batch)])
      } catch (error) {
        this.#options.logger.warn({ err: error, rows: batch.length }, 'figures of tags were not stored')
      }
    }
  }
}

function findCell<Cell>(cells: Map<string, Cell>, key: string, make: () => Cell): Cell | null {
  const known = cells.get(key)
  if (known !== undefined) return known
  if (cells.size >= CELLS_MAX) return null
  const made = make()
  cells.set(key, made)
  return made
}

function count(histogram: Map<number, number>, durationMs: number): void {
  const bucket = latencyBucketOf(durationMs)
  histogram.set(bucket, (histogram.get(bucket) ?? 0) + 1)
}

/** In one order for all processes, so that they do not wait for each other in a circle. */
function rowsOf<Cell>(cells: ReadonlyMap<string, Cell>, figuresOf: (cell: Cell) => object): object[] {
  return [...cells]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, cell]) => {
      const [accountId, hourMs, label, keyId, model, outcome, httpStatus, errorCode] = JSON.parse(key)
      return {
        account_id: accountId,
        hour: new Date(hourMs),
        label,
        key_id: keyId,
        model,
        outcome,
        http_status: httpStatus,
        error_code: errorCode,
        ...figuresOf(cell),
      }
    })
}

const ADD_LATENCIES = `
  INSERT INTO latency_by_label AS stored
  SELECT * FROM jsonb_populate_recordset(NULL::latency_by_label, $1::jsonb)
  ON CONFLICT (account_id, hour, label, key_id, model) DO UPDATE SET
    latency = ${addUpSql('stored.latency || excluded.latency')},
    first_token = ${addUpSql('stored.first_token || excluded.first_token')}`

const ADD_ERRORS = `
  INSERT INTO errors_by_label AS stored
  SELECT * FROM jsonb_populate_recordset(NULL::errors_by_label, $1::jsonb)
  ON CONFLICT (account_id, hour, label, key_id, model, outcome, http_status, error_code) DO UPDATE SET
    requests = stored.requests + excluded.requests,
    first_at = least(stored.first_at, excluded.first_at),
    last_at = greatest(stored.last_at, excluded.last_at)`

const deleteOld = (table: string): string => `
  DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE hour < now() - $1 * interval '1 day'
    ORDER BY hour LIMIT $2 FOR UPDATE SKIP LOCKED))
  RETURNING 1 AS one`
