import type { Queryable } from '../../storage/database.ts'
import type { Reader } from '../keys/keys.ts'
import { selectUsage, type UsageFilter } from './select-usage.ts'
import { splitRange, type UsageRange } from './usage-range.ts'
import { NO_USAGE, SUMS, totalsFromRow, type UsageTotals, type UsageTotalsRow } from './usage-totals.ts'

export interface TotalsQuery extends Reader {
  readonly range: UsageRange
  readonly filter?: UsageFilter
}

export async function readTotals(queryable: Queryable, query: TotalsQuery): Promise<UsageTotals> {
  const usage = selectUsage(query, splitRange(query.range), query.filter)
  const [row] = await queryable.query<UsageTotalsRow>(`SELECT ${SUMS} FROM (${usage.sql}) AS usage`, [
    ...usage.values,
  ])
  return row === undefined ? NO_USAGE : totalsFromRow(row)
}
