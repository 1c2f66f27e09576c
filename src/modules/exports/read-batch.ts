import type { ExportBatch, ExportedItem } from '../../exports/export-sink.ts'
import type { Queryable } from '../../storage/database.ts'
import { readLogged } from '../request-log/request-log.ts'
import { describeRequest } from './describe-request.ts'

/** Which requests a sink gets. */
export type Wanted = 'all' | 'charged' | 'failed'

export interface BatchOrder {
  /** Requests after this number, up to the other one. */
  readonly position: bigint
  readonly settled: bigint
  readonly wanted: Wanted
  readonly requestsMax: number
  readonly bytesMax: number
}

export interface ReadBatch {
  readonly batch: ExportBatch
  /** The number of the last row of the queue that was read. */
  readonly last: bigint
  /** Requests that the log does not have any more. */
  readonly missing: number
  /** Whether there was no room for more. */
  readonly isFull: boolean
}

/** Rows of one read. */
const STEP_ROWS = 500
/** Rows of one batch, with those that the sink does not get. */
const ROWS_MAX = 20_000

/** Reads the next requests of the queue in their order. Returns null if there are none. */
export async function readBatch(queryable: Queryable, order: BatchOrder): Promise<ReadBatch | null> {
  const items: ExportedItem[] = []
  let last = order.position
  let first: bigint | null = null
  let missing = 0
  let bytes = 0
  for (let rowsRead = 0; rowsRead < ROWS_MAX; rowsRead += STEP_ROWS) {
    const limit = Math.min(STEP_ROWS, order.requestsMax - items.length)
    if (limit <= 0 || bytes >= order.bytesMax) return finish(true)
    const rows = await queryable.query<QueueRow>(READ, [last, order.settled, limit])
    first ??= rows[0]?.number ?? null
    const wanted = rows.filter(
      ({ is_charged }) => order.wanted === 'all' || is_charged === (order.wanted === 'charged'),
    )
    const found = await readLogged(
      queryable,
      wanted.map((row) => ({ accountId: row.account_id, id: row.id, isCharged: row.is_charged })),
    )
    for (const [index, row] of wanted.entries()) {
      // The bytes of the step that goes beyond the limit are read again.
      if (bytes >= order.bytesMax) return finish(true)
      const logged = found[index] ?? null
      last = row.number
      if (logged === null) {
        missing += 1
        continue
      }
      const request = describeRequest(logged, { number: row.number, queuedAtMs: row.queued_at.getTime() })
      const line = JSON.stringify(request)
      bytes += line.length
      items.push({ request, line, queuedAtMs: row.queued_at.getTime() })
    }
    last = rows.at(-1)?.number ?? last
    if (rows.length < limit) return finish(false)
  }
  return finish(true)

  function finish(isFull: boolean): ReadBatch | null {
    return first === null ? null : { batch: { firstNumber: first, items }, last, missing, isFull }
  }
}

interface QueueRow {
  readonly number: bigint
  readonly account_id: string
  readonly id: string
  readonly is_charged: boolean
  readonly queued_at: Date
}

const READ = `
  SELECT number, account_id, id, is_charged, queued_at FROM export_queue
  WHERE number > $1 AND number <= $2 ORDER BY number LIMIT $3`

/** How long the first request after a position has waited. Null if there is none. */
export async function readOldestMs(queryable: Queryable, position: bigint): Promise<number | null> {
  const [row] = await queryable.query<{ waited_ms: number }>(
    `SELECT (extract(epoch FROM clock_timestamp() - queued_at) * 1000)::float8 AS waited_ms
     FROM export_queue WHERE number > $1 ORDER BY number LIMIT 1`,
    [position],
  )
  return row?.waited_ms ?? null
}
