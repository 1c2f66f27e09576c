import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../../../kernel/clock.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Queryable } from '../../../storage/database.ts'
import { addUpSql, latencyBucketOf, packHistogram } from '../latency-buckets.ts'
import { floorDay, floorHour } from '../usage-range.ts'

/** An attempt at a provider that ended by itself. */
export interface EndedAttempt {
  readonly provider: string
  readonly model: string
  /** `limited`: it refused because there were too many calls. */
  readonly ended: 'answered' | 'failed' | 'limited'
}

/** A complete answer of a provider, timed from the attempt on. */
export interface ProviderAnswer {
  readonly provider: string
  readonly model: string
  readonly latencyMs: number
  /** Null unless it was streamed. */
  readonly firstTokenMs: number | null
  readonly completionTokens: number
}

/** What was counted of one provider and model within an hour. */
interface Cell {
  readonly provider: string
  readonly model: string
  readonly hourMs: number
  calls: number
  failures: number
  limited: number
  writtenTokens: number
  writtenMs: number
  readonly latency: Map<number, number>
  readonly firstToken: Map<number, number>
}

interface VendorMeterOptions {
  readonly database: Queryable
  readonly clock: Clock
  readonly logger: Logger
}

const FLUSH_INTERVAL_MS = 5_000
const SWEEP_INTERVAL_MS = 60 * 60_000
/** Further cells are not counted until the next flush. */
const CELLS_MAX = 5_000
const CELLS_AT_ONCE = 500
const HOURS_KEPT_DAYS = 35
const DAYS_KEPT_DAYS = 400
const SWEPT_ROWS = 2_000
const SWEEPS_MAX = 100

/**
 * Counts what providers do in memory, and adds it to the stored hours and days every few seconds: a call costs no write, and a process
 * that is killed loses the last seconds of its counts.
 */
export class VendorMeter {
  /** What is written belongs to all accounts, and not to the reader that asked for it. */
  readonly #runForAll = AsyncLocalStorage.snapshot()
  readonly #options: VendorMeterOptions
  readonly #timers: readonly NodeJS.Timeout[]
  #cells = new Map<string, Cell>()
  /** Mostly the next call belongs to the same cell. */
  #last: Cell | null = null
  #writing: Promise<void> = Promise.resolve()

  constructor(options: VendorMeterOptions) {
    this.#options = options
    const sweep = (): void => {
      this.sweep().catch((error: unknown) =>
        options.logger.warn({ err: error }, 'old counts of providers were not deleted'),
      )
    }
    this.#timers = [
      setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref(),
      setInterval(sweep, SWEEP_INTERVAL_MS).unref(),
    ]
  }

  noteAttempt({ provider, model, ended }: EndedAttempt): void {
    const cell = this.#find(provider, model)
    if (cell === null) return
    cell.calls += 1
    if (ended === 'failed') cell.failures += 1
    if (ended === 'limited') cell.limited += 1
  }

  /** An attempt that was answered failed while its answer was sent. */
  noteBroken({ provider, model }: { provider: string; model: string }): void {
    const cell = this.#find(provider, model)
    if (cell !== null) cell.failures += 1
  }

  noteAnswer({ provider, model, latencyMs, firstTokenMs, completionTokens }: ProviderAnswer): void {
    const cell = this.#find(provider, model)
    if (cell === null) return
    add(cell.latency, latencyBucketOf(latencyMs))
    if (firstTokenMs === null) return
    add(cell.firstToken, latencyBucketOf(firstTokenMs))
    cell.writtenTokens += completionTokens
    cell.writtenMs += Math.max(0, Math.round(latencyMs - firstTokenMs))
  }

  /** Resolves when everything noted before is stored. */
  flush(): Promise<void> {
    if (this.#cells.size > 0) {
      const cells = [...this.#cells.values()]
      this.#cells = new Map()
      this.#last = null
      this.#writing = this.#runForAll(() => this.#writing.then(() => this.#write(cells)))
    }
    return this.#writing
  }

  async sweep(): Promise<void> {
    for (const [grain, days] of [
      ['hour', HOURS_KEPT_DAYS],
      ['day', DAYS_KEPT_DAYS],
    ])
      for (let count = 0; count < SWEEPS_MAX; count += 1) {
        const deleted = await this.#options.database.query(DELETE_OLD, [grain, days, SWEPT_ROWS])
        if (deleted.length < SWEPT_ROWS) break
      }
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.flush()
  }

  #find(provider: string, model: string): Cell | null {
    const hourMs = floorHour(this.#options.clock.nowMs())
    const last = this.#last
    if (last !== null && last.hourMs === hourMs && last.provider === provider && last.model === model)
      return last
    const name = `${hourMs}\n${provider}\n${model}`
    let cell = this.#cells.get(name)
    if (cell === undefined) {
      if (this.#cells.size >= CELLS_MAX) return null
      cell = newCell(provider, model, hourMs)
      this.#cells.set(name, cell)
    }
    this.#last = cell
    return cell
  }

  async #write(cells: readonly Cell[]): Promise<void> {
    // One order for all processes, so that they do not wait for each other in a circle.
    const rows = cells.map(toRow).toSorted((a, b) => (a.order < b.order ? -1 : 1))
    for (let start = 0; start < rows.length; start += CELLS_AT_ONCE) {
      const batch = rows.slice(start, start + CELLS_AT_ONCE)
      try {
        await this.#options.database.query(ADD, [JSON.stringify(batch)])
      } catch (error) {
        this.#options.logger.warn({ err: error, rows: batch.length }, 'calls of providers were not counted')
      }
    }
  }
}

function newCell(provider: string, model: string, hourMs: number): Cell {
  return {
    provider,
    model,
    hourMs,
    calls: 0,
    failures: 0,
    limited: 0,
    writtenTokens: 0,
    writtenMs: 0,
    latency: new Map(),
    firstToken: new Map(),
  }
}

function add(counts: Map<number, number>, bucket: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
}

function toRow({ provider, model, hourMs, latency, firstToken, ...counts }: Cell) {
  return {
    hour: new Date(hourMs).toISOString(),
    day: new Date(floorDay(hourMs)).toISOString(),
    provider,
    model,
    calls: counts.calls,
    failures: counts.failures,
    limited: counts.limited,
    written_tokens: counts.writtenTokens,
    written_ms: counts.writtenMs,
    latency: packHistogram(latency),
    first_token: packHistogram(firstToken),
    order: `${hourMs}\n${provider}\n${model}`,
  }
}

// Two hours of a day may be in one statement, which can change a row only once.
const ADD = `
  WITH noted AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS noted (hour timestamptz, day timestamptz, provider text, model text,
      calls bigint, failures bigint, limited bigint, written_tokens bigint, written_ms bigint, latency bigint[], first_token bigint[])
  ), counted AS (
    SELECT 'hour' AS grain, hour AS begins, noted.* FROM noted UNION ALL SELECT 'day', day, noted.* FROM noted
  ), packed AS (
    SELECT grain, begins, provider, model, array_agg(one) FILTER (WHERE is_whole) AS latency,
      array_agg(one) FILTER (WHERE NOT is_whole) AS first_token
    FROM (
      SELECT grain, begins, provider, model, one, true AS is_whole FROM counted, unnest(latency) AS one
      UNION ALL SELECT grain, begins, provider, model, one, false FROM counted, unnest(first_token) AS one
    ) AS ones GROUP BY grain, begins, provider, model
  ), summed AS (
    SELECT grain, begins, provider, model, sum(calls)::bigint AS calls, sum(failures)::bigint AS failures,
      sum(limited)::bigint AS limited, sum(written_tokens)::bigint AS written_tokens, sum(written_ms)::bigint AS written_ms
    FROM counted GROUP BY grain, begins, provider, model
  )
  INSERT INTO provider_health AS stored
    (grain, begins, provider, model, calls, failures, limited, latency, first_token, written_tokens, written_ms)
  SELECT grain, begins, provider, model, calls, failures, limited, ${addUpSql(`coalesce(latency, '{}')`)},
    ${addUpSql(`coalesce(first_token, '{}')`)}, written_tokens, written_ms
  FROM summed LEFT JOIN packed USING (grain, begins, provider, model)
  ORDER BY grain, begins, provider, model
  ON CONFLICT (grain, begins, provider, model) DO UPDATE SET
    calls = stored.calls + excluded.calls,
    failures = stored.failures + excluded.failures,
    limited = stored.limited + excluded.limited,
    latency = ${addUpSql('stored.latency || excluded.latency')},
    first_token = ${addUpSql('stored.first_token || excluded.first_token')},
    written_tokens = stored.written_tokens + excluded.written_tokens,
    written_ms = stored.written_ms + excluded.written_ms`

const DELETE_OLD = `
  DELETE FROM provider_health WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM provider_health WHERE grain = $1 AND begins < now() - $2 * interval '1 day'
    ORDER BY begins LIMIT $3 FOR UPDATE SKIP LOCKED))
  RETURNING 1 AS one`
