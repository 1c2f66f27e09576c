import type { Queryable } from '../../../storage/database.ts'
import { apportionShares } from '../apportion-shares.ts'
import type { UsageRange } from '../usage-range.ts'
import {
  addTotals,
  COUNT_COLUMNS,
  NO_USAGE,
  SUMS,
  totalsFromRow,
  type UsageTotals,
  type UsageTotalsRow,
} from '../usage-totals.ts'
import { countErrors, ERROR_COLUMNS } from './count-errors.ts'
import type { GatewayQuery, GroupOrder } from './gateway-query.ts'
import {
  addCosts,
  COST_COLUMNS,
  costsFromRow,
  NO_COSTS,
  type UsageCosts,
  type UsageCostsRow,
} from '../usage-costs.ts'
import { selectAllAccounts } from './select-all-accounts.ts'

export interface GroupsQuery extends GatewayQuery {
  readonly previousRange: UsageRange
  readonly order: GroupOrder
  /** Groups beyond it are one. */
  readonly limit: number
}

/** Requests that did not complete, also those that were not charged. */
interface ErrorCounts {
  readonly failed: number
  readonly refused: number
  readonly disconnected: number
}

interface GroupFigures {
  readonly totals: UsageTotals
  readonly previous: UsageTotals
  readonly errors: ErrorCounts
  readonly costs: UsageCosts
}

export interface UsageGroup extends GroupFigures {
  readonly value: string
  /** The part of the whole cost. */
  readonly share: number
}

/** The usage of all accounts in groups, in the order of the query. */
export interface GatewayUsage extends GroupFigures {
  readonly groups: readonly UsageGroup[]
  readonly rest: GroupFigures & { readonly groups: number; readonly share: number }
}

type Previous<Row> = { readonly [Column in keyof Row & string as `before_${Column}`]: Row[Column] }

interface GroupRow extends UsageTotalsRow, UsageCostsRow, Previous<UsageTotalsRow> {
  /** Null for the rest. */
  readonly value: string | null
  /** Of the rest. One for a group. */
  readonly groups: bigint
  readonly failed: bigint
  readonly refused: bigint
  readonly disconnected: bigint
}

export async function readGroups(queryable: Queryable, query: GroupsQuery): Promise<GatewayUsage> {
  const values: unknown[] = []
  const statement = rankGroups(query, values)
  const rows = await queryable.query<GroupRow>(statement, values)
  const groups = rows.flatMap((row) => (row.value === null ? [] : [{ value: row.value, ...figuresOf(row) }]))
  const restRow = rows.find(({ value }) => value === null)
  const rest = restRow === undefined ? NO_FIGURES : figuresOf(restRow)
  const shares = apportionShares([...groups, rest].map(({ totals }) => totals.costNanoUsd))
  return {
    ...groups.reduce<GroupFigures>(addFigures, rest),
    groups: groups.map((group, index) => ({ ...group, share: shares[index] ?? 0 })),
    rest: { ...rest, groups: Number(restRow?.groups ?? 0), share: shares.at(-1) ?? 0 },
  }
}

const ORDERS: Readonly<Record<GroupOrder, string>> = {
  cost: 'cost_nano_usd DESC, requests DESC',
  requests: 'requests DESC, cost_nano_usd DESC',
  tokens: 'prompt_tokens + completion_tokens DESC, cost_nano_usd DESC',
  errors: 'failed DESC, requests DESC',
  movers: 'abs(cost_nano_usd - before_cost_nano_usd) DESC, cost_nano_usd DESC',
}

const BEFORE = COUNT_COLUMNS.map((column) => `before_${column}`)

/** In one statement, so that neither period is missing what is posted meanwhile. */
function rankGroups(query: GroupsQuery, values: unknown[]): string {
  const { previousRange, order, limit } = query
  const before = selectAllAccounts({ ...query, range: previousRange }, values)
  const renamed = COUNT_COLUMNS.map((column) => `${column} AS before_${column}`).join(', ')
  const now = selectAllAccounts(query, values, { hasCosts: true })
  const errors = countErrors(query, values)
  const others = [...BEFORE, ...ERROR_COLUMNS, ...COST_COLUMNS]
  const columns = [...COUNT_COLUMNS, ...others]
  const last = `$${values.push(limit)}::bigint`
  return `WITH groups AS (
      SELECT value, ${columns.map((column) => `coalesce(${column}, 0) AS ${column}`).join(', ')}
      FROM (${now}) AS now
      FULL JOIN (SELECT value, ${renamed} FROM (${before}) AS earlier) AS before USING (value)
      FULL JOIN (${errors}) AS errors USING (value)
    ), ranked AS (
      SELECT *, row_number() OVER (ORDER BY ${ORDERS[order]}, value) AS place FROM groups
      WHERE requests > 0 OR cost_nano_usd > 0 OR before_requests > 0 OR failed + refused + disconnected > 0
    )
    SELECT min(value) FILTER (WHERE place <= ${last}) AS value, count(*) AS groups, ${SUMS},
      ${others.map((column) => `sum(${column})::bigint AS ${column}`).join(', ')}
    FROM ranked GROUP BY least(place, ${last} + 1) ORDER BY least(place, ${last} + 1)`
}

function figuresOf(row: GroupRow): GroupFigures {
  return {
    totals: totalsFromRow(row),
    previous: totalsFromRow(previousOf(row)),
    errors: {
      failed: Number(row.failed),
      refused: Number(row.refused),
      disconnected: Number(row.disconnected),
    },
    costs: costsFromRow(row),
  }
}

function previousOf(row: GroupRow): UsageTotalsRow {
  return {
    requests: row.before_requests,
    prompt_tokens: row.before_prompt_tokens,
    cached_tokens: row.before_cached_tokens,
    cache_write_tokens: row.before_cache_write_tokens,
    completion_tokens: row.before_completion_tokens,
    reasoning_tokens: row.before_reasoning_tokens,
    units: row.before_units,
    cost_nano_usd: row.before_cost_nano_usd,
    promotional_nano_usd: row.before_promotional_nano_usd,
  }
}

const NO_FIGURES: GroupFigures = {
  totals: NO_USAGE,
  previous: NO_USAGE,
  errors: { failed: 0, refused: 0, disconnected: 0 },
  costs: NO_COSTS,
}

function addFigures(a: GroupFigures, b: GroupFigures): GroupFigures {
  return {
    totals: addTotals(a.totals, b.totals),
    previous: addTotals(a.previous, b.previous),
    errors: {
      failed: a.errors.failed + b.errors.failed,
      refused: a.errors.refused + b.errors.refused,
      disconnected: a.errors.disconnected + b.errors.disconnected,
    },
    costs: addCosts(a.costs, b.costs),
  }
}
