import type { Queryable } from '../../storage/database.ts'
import type { Reader } from '../keys/keys.ts'
import { selectUsage, type UsageFilter } from './select-usage.ts'
import { HOUR_MS, splitRange, type UsageRange } from './usage-range.ts'

export interface SpanQuery extends Reader {
  readonly range: UsageRange
  readonly filter: UsageFilter
}

export interface UsageSpan {
  readonly total: number
  /** From the first to the last hour with usage, within the range. */
  readonly span: UsageRange
}

/**
 * Reads the number of records and their time span from the rollups, because counting, or searching for a model that was last used
 * a year ago, must not read every record. Returns null if there are none.
 */
export async function findSpan(queryable: Queryable, query: SpanQuery): Promise<UsageSpan | null> {
  const { range, filter } = query
  const usage = selectUsage(query, splitRange(range), filter)
  const [row] = await queryable.query<{ total: bigint | null; first: Date | null; last: Date | null }>(
    `SELECT sum(requests)::bigint AS total, min(hour) AS first, max(hour) AS last FROM (${usage.sql}) AS usage`,
    usage.values,
  )
  if (!row?.total || row.first === null || row.last === null) return null
  const span = {
    fromMs: Math.max(range.fromMs, row.first.getTime()),
    toMs: Math.min(range.toMs, row.last.getTime() + HOUR_MS),
  }
  return { total: Number(row.total), span }
}
