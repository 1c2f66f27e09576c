import type { Queryable } from '../../../storage/database.ts'
import { apportionShares } from '../apportion-shares.ts'
import { floorHour, type UsageRange } from '../usage-range.ts'
import {
  addTotals,
  COUNT_COLUMNS,
  NO_USAGE,
  SUMS,
  totalsFromRow,
  type UsageTotals,
  type UsageTotalsRow,
} from '../usage-totals.ts'
import {
  gatewayConditions,
  groupedBy,
  SOURCE_COLUMNS,
  type GatewayQuery,
  type GroupOrder,
} from './gateway-query.ts'
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
  /** Null by tag, because errors have none. */
  readonly errors: ErrorCounts | null
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
  const hasErrors = query.by !== 'tag' && query.filter.label === undefined
  const statement = rankGroups(query, values, hasErrors)
  const rows = await queryable.query<GroupRow>(statement, values)
  const groups = rows.flatMap((row) =>
    row.value === null ? [] : [{ value: row.value, ...figuresOf(row, hasErrors) }],
  )
  const restRow = rows.find(({ value }) => value === null)
  const rest = restRow === undefined ? noFigures(hasErrors) : figuresOf(restRow, hasErrors)
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
const ERROR_COLUMNS = ['failed', 'refused', 'disconnected'] as const

/** In one statement, so that neither period is missing what is posted meanwhile. */
function rankGroups(query: GroupsQuery, values: unknown[], hasErrors: boolean): string {
  const { previousRange, order, limit } = query
  const before = selectAllAccounts({ ...query, range: previousRange }, values)
  const renamed = COUNT_COLUMNS.map((column) => `${column} AS before_${column}`).join(', ')
  const now = selectAllAccounts(query, values, { hasCosts: true })
  const errors = hasErrors ? countErrors(query, values) : NO_ERRORS
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

const NO_ERRORS = 'SELECT NULL::text AS value, 0 AS failed, 0 AS refused, 0 AS disconnected WHERE false'

// Counted by hour: one that the range begins in counts if an error of it is within the range.
function countErrors(query: GroupsQuery, values: unknown[]): string {
  const bind = (value: unknown): string => `$${values.push(value)}`
  const grouped = groupedBy(query, query.by === 'tag' ? 'model' : SOURCE_COLUMNS[query.by], bind)
  const counts = ERROR_COLUMNS.map(
    (outcome) => `coalesce(sum(requests) FILTER (WHERE outcome = '${outcome}'), 0)::bigint AS ${outcome}`,
  )
  return `SELECT ${grouped.value} AS value, ${counts.join(', ')} FROM request_errors AS rows ${grouped.join}
    WHERE ${errorsWithin(query.range, bind)}${gatewayConditions(query, bind)} GROUP BY 1`
}

/** SQL for errors of a range. Counts are by hour: one that the range begins in counts if its last error is within the range. */
export function errorsWithin({ fromMs, toMs }: UsageRange, bind: (value: unknown) => string): string {
  const [from, to] = [bind(new Date(fromMs)), bind(new Date(toMs))]
  return `rows.hour >= ${bind(new Date(floorHour(fromMs)))} AND rows.hour < ${to} AND rows.last_at >= ${from} AND rows.first_at < ${to}`
}

function figuresOf(row: GroupRow, hasErrors: boolean): GroupFigures {
  return {
    totals: totalsFromRow(row),
    previous: totalsFromRow(previousOf(row)),
    errors: hasErrors
      ? { failed: Number(row.failed), refused: Number(row.refused), disconnected: Number(row.disconnected) }
      : null,
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

function noFigures(hasErrors: boolean): GroupFigures {
  return {
    totals: NO_USAGE,
    previous: NO_USAGE,
    errors: hasErrors ? { failed: 0, refused: 0, disconnected: 0 } : null,
    costs: NO_COSTS,
  }
}

function addFigures(a: GroupFigures, b: GroupFigures): GroupFigures {
  return {
    totals: addTotals(a.totals, b.totals),
    previous: addTotals(a.previous, b.previous),
    errors: a.errors &&
      b.errors && {
        failed: a.errors.failed + b.errors.failed,
        refused: a.errors.refused + b.errors.refused,
        disconnected: a.errors.disconnected + b.errors.disconnected,
      },
    costs: addCosts(a.costs, b.costs),
  }
}
