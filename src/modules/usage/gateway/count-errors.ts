import { floorHour, type UsageRange } from '../usage-range.ts'
import { valueOfTag } from '../value-of-tag.ts'
import {
  gatewayConditions,
  groupedBy,
  NO_ATTRIBUTES,
  SOURCE_COLUMNS,
  type GatewayQuery,
} from './gateway-query.ts'

type Bind = (value: unknown) => string

export const ERROR_COLUMNS = ['failed', 'refused', 'disconnected'] as const

/** SQL for the errors of each group, as `value` and a column for each outcome. */
export function countErrors(query: GatewayQuery, values: unknown[]): string {
  const bind = (value: unknown): string => `$${values.push(value)}`
  if (query.by !== 'tag') return countWithin(query, groupedBy(query, SOURCE_COLUMNS[query.by], bind), bind)
  const prefix = `${bind(`tag:${query.tagName ?? ''}=`)}::text`
  if (query.filter.label === undefined) return countByTag(query, prefix, bind)
  const value = `CASE WHEN starts_with(rows.label, ${prefix}) THEN ${valueOfTag('rows.label', prefix)} ELSE '' END`
  return countWithin(query, { value, join: '' }, bind)
}

function countWithin(
  query: GatewayQuery,
  { value, join }: { readonly value: string; readonly join: string },
  bind: Bind,
): string {
  const counts = ERROR_COLUMNS.map(
    (outcome) => `coalesce(sum(requests) FILTER (WHERE outcome = '${outcome}'), 0)::bigint AS ${outcome}`,
  )
  return `SELECT ${value} AS value, ${counts.join(', ')} FROM ${errorsOf(query, bind)} AS rows ${join}
    WHERE ${errorsWithin(query.range, bind)}${gatewayConditions(query, bind)} GROUP BY 1`
}

/** What has no such tag is everything, less what has it. */
function countByTag(query: GatewayQuery, prefix: string, bind: Bind): string {
  const tagged = `SELECT ${valueOfTag('label', prefix)} AS tag, * FROM errors_by_label WHERE starts_with(label, ${prefix})`
  const within = `${errorsWithin(query.range, bind)}${gatewayConditions(query, bind)}`
  const columns = 'rows.outcome, rows.requests'
  const counts = ERROR_COLUMNS.map(
    (outcome) =>
      `greatest(0, coalesce(sum(requests) FILTER (WHERE outcome = '${outcome}'), 0))::bigint AS ${outcome}`,
  )
  return `SELECT value, ${counts.join(', ')} FROM (
      SELECT rows.tag AS value, ${columns} FROM (${tagged}) AS rows WHERE ${within}
      UNION ALL SELECT '', rows.outcome, -rows.requests FROM (${tagged}) AS rows WHERE ${within}
      UNION ALL SELECT '', ${columns} FROM ${errorsOf(query, bind)} AS rows WHERE ${within}
    ) AS counted GROUP BY 1`
}

/** SQL for the errors that a query is about: all, or those with a tag. */
export function errorsOf({ filter }: GatewayQuery, bind: Bind): string {
  if (filter.label === undefined) return 'request_errors'
  return `(SELECT *, ${NO_ATTRIBUTES} FROM errors_by_label WHERE label = ${bind(filter.label)}::text)`
}

/** SQL for errors of a range. Counts are by hour: one that the range begins in counts if its last error is within the range. */
export function errorsWithin({ fromMs, toMs }: UsageRange, bind: Bind): string {
  const [from, to] = [bind(new Date(fromMs)), bind(new Date(toMs))]
  return `rows.hour >= ${bind(new Date(floorHour(fromMs)))} AND rows.hour < ${to} AND rows.last_at >= ${from} AND rows.first_at < ${to}`
}
