import type { Queryable } from '../../storage/database.ts'
import type { Reader } from '../keys/keys.ts'
import { apportionShares } from './apportion-shares.ts'
import { selectUsage, valueOf, type Dimension, type UsageFilter } from './select-usage.ts'
import { splitRange, type UsageRange } from './usage-range.ts'
import {
  addTotals,
  compareByCost,
  NO_USAGE,
  SUMS,
  totalsFromRow,
  type UsageTotals,
  type UsageTotalsRow,
} from './usage-totals.ts'

export interface SpendingQuery extends Reader {
  readonly range: UsageRange
  readonly by: Dimension
  /** Of the tag to group by, if `by` is one. */
  readonly tagName?: string
  readonly filter: UsageFilter
  readonly limit: number
}

/** Sorted by cost, highest first. The shares of the groups and of the rest sum to one, or to zero if nothing was spent. */
export interface Spending {
  readonly totals: UsageTotals
  readonly groups: readonly SpendingGroup[]
  /** The groups beyond the limit. */
  readonly rest: { readonly groups: number; readonly totals: UsageTotals; readonly share: number }
}

interface SpendingGroup {
  readonly value: string
  /** The name of a key, otherwise the value. */
  readonly name: string
  readonly totals: UsageTotals
  readonly share: number
}

interface GroupRow extends UsageTotalsRow {
  /** Null for the rest. */
  readonly value: string | null
  readonly groups: bigint
}

/** Returns the spending of one account by model, provider, key or environment. */
export async function readSpending(queryable: Queryable, query: SpendingQuery): Promise<Spending> {
  const { range, by, filter, limit } = query
  const usage = selectUsage(query, splitRange(range), filter, query.tagName)
  const grouped = `SELECT ${valueOf(by)} AS value, ${SUMS} FROM (${usage.sql}) AS usage GROUP BY 1 HAVING sum(requests) <> 0`
  const rows = await queryable.query<GroupRow>(keepDearest(grouped, usage.values.length + 1), [
    ...usage.values,
    limit,
  ])
  const names = by === 'key' ? await readNames(queryable, rows) : new Map<string, string>()
  return shareSpending(rows, names)
}

function keepDearest(groupedSql: string, limitParameter: number): string {
  return `WITH ranked AS (
      SELECT *, row_number() OVER (ORDER BY cost_nano_usd DESC, requests DESC, value) AS place
      FROM (${groupedSql}) AS grouped
    )
    SELECT CASE WHEN place <= $${limitParameter} THEN value::text END AS value, count(*) AS groups, ${SUMS}
    FROM ranked GROUP BY 1`
}

async function readNames(
  queryable: Queryable,
  groups: readonly GroupRow[],
): Promise<ReadonlyMap<string, string>> {
  const ids = groups.flatMap(({ value }) => (value === null ? [] : [value]))
  const rows = await queryable.query<{ id: string; name: string }>(
    'SELECT id::text, name FROM api_keys WHERE id = ANY ($1::uuid[])',
    [ids],
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}

function shareSpending(rows: readonly GroupRow[], names: ReadonlyMap<string, string>): Spending {
  const dearest = rows
    .flatMap((row) => (row.value === null ? [] : [{ value: row.value, totals: totalsFromRow(row) }]))
    .toSorted(compareByCost)
  const restRow = rows.find(({ value }) => value === null)
  const rest = restRow === undefined ? NO_USAGE : totalsFromRow(restRow)
  const shares = apportionShares([...dearest, { totals: rest }].map(({ totals }) => totals.costNanoUsd))
  return {
    totals: dearest.reduce((sum, { totals }) => addTotals(sum, totals), rest),
    groups: dearest.map(({ value, totals }, index) => ({
      value,
      name: names.get(value) ?? value,
      totals,
      share: shares[index] ?? 0,
    })),
    rest: { groups: Number(restRow?.groups ?? 0), totals: rest, share: shares.at(-1) ?? 0 },
  }
}
