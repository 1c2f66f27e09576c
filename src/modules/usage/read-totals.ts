import type { Queryable } from '../../storage/database.ts'
import { selectUsage, type UsageFilter } from './select-usage.ts'
import { splitRange, type UsageRange } from './usage-range.ts'
import { NO_USAGE, SUMS, totalsFromRow, type UsageTotals, type UsageTotalsRow } from './usage-totals.ts'

export interface TotalsQuery {
  readonly accountId: string
  readonly range: UsageRange
  readonly filter?: UsageFilter
}

export async function readTotals(
  queryable: Queryable,
  { accountId, range, filter }: TotalsQuery,
): Promise<UsageTotals> {
  const usage = selectUsage({ accountId }, splitRange(range), filter)
  const [row] = await queryable.query<UsageTotalsRow>(`SELECT ${SUMS} FROM (${usage.sql}) AS usage`, [
    ...usage.values,
  ])
  return row === undefined ? NO_USAGE : totalsFromRow(row)
}
