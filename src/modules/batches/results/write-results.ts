import { createHash } from 'node:crypto'
import type { Queryable } from '../../../storage/database.ts'
import type { LinePace } from '../pace/line-pace.ts'

/** The lines of one of the files of a batch. */
export type ResultKind = 'output' | 'error'

interface LineSize {
  readonly number: number
  readonly bytes: number | null
}

interface ResultRow {
  readonly number: number
  readonly custom_id: string
  readonly status: string
  readonly request_id: string | null
  readonly http_status: number | null
  readonly error_code: string | null
  readonly result: string | null
}

/** Why lines were not asked. */
export interface UnaskedReason {
  readonly code: string
  readonly message: string
}

const SIZES_AT_ONCE = 5_000
/** Of the results that are in memory, unless a single one is larger. */
const PART_BYTES_MAX = 256 * 1024

const OF_KIND: Readonly<Record<ResultKind, string>> = {
  output: `status = 'completed'`,
  error: `status <> 'completed'`,
}

interface ResultOptions {
  readonly kind: ResultKind
  readonly unasked: UnaskedReason
  readonly pace: Pick<LinePace, 'step'>
}

/** Writes the lines of a result file, a part at a time. */
export async function* writeResults(
  queryable: Queryable,
  batchId: string,
  { kind, unasked, pace }: ResultOptions,
): AsyncGenerator<Buffer, void> {
  for (let after = 0; ;) {
    const sizes = await queryable.query<LineSize>(
      `SELECT number, octet_length(result) AS bytes FROM batch_lines
       WHERE batch_id = $1 AND ${OF_KIND[kind]} AND number > $2 ORDER BY number LIMIT $3`,
      [batchId, after, SIZES_AT_ONCE],
    )
    for (const numbers of partsOf(sizes)) {
      const rows = await queryable.query<ResultRow>(
        `SELECT number, custom_id, status, request_id, http_status, error_code, result FROM batch_lines
         WHERE batch_id = $1 AND number = ANY ($2::int[]) ORDER BY number`,
        [batchId, numbers],
      )
      yield Buffer.from(rows.map((row) => writeLine(batchId, row, unasked)).join(''))
      await pace.step()
    }
    const last = sizes.at(-1)
    if (last === undefined || sizes.length < SIZES_AT_ONCE) return
    after = last.number
  }
}

export async function hasResults(queryable: Queryable, batchId: string, kind: ResultKind): Promise<boolean> {
  const rows = await queryable.query(
    `SELECT FROM batch_lines WHERE batch_id = $1 AND ${OF_KIND[kind]} LIMIT 1`,
    [batchId],
  )
  return rows.length > 0
}

function* partsOf(sizes: readonly LineSize[]): Generator<number[], void> {
  let part: number[] = []
  let bytes = 0
  for (const size of sizes) {
    if (part.length > 0 && bytes + (size.bytes ?? 0) > PART_BYTES_MAX) {
      yield part
      part = []
      bytes = 0
    }
    part.push(size.number)
    bytes += size.bytes ?? 0
  }
  if (part.length > 0) yield part
}

function writeLine(batchId: string, row: ResultRow, unasked: UnaskedReason): string {
  const id = JSON.stringify(lineIdOf(batchId, row.number))
  const customId = JSON.stringify(row.custom_id)
  if (row.http_status === null || row.result === null) {
    const { code, message } =
      row.error_code === null ? unasked : { code: row.error_code, message: row.result ?? '' }
    return `{"id":${id},"custom_id":${customId},"response":null,"error":${JSON.stringify({ code, message })}}\n`
  }
  const requestId = JSON.stringify(row.request_id)
  // In JSON, ends of lines can only be between values.
  const body = row.result.replaceAll(/[\r\n]+/g, ' ')
  return `{"id":${id},"custom_id":${customId},"response":{"status_code":${row.http_status},"request_id":${requestId},"body":${body}},"error":null}\n`
}

/** The same each time the file is written. */
export function lineIdOf(batchId: string, number: number): string {
  return `batch_req_${createHash('sha256').update(`${batchId}:${number}`).digest('hex').slice(0, 32)}`
}
