import { COST_SUMS } from '../usage-costs.ts'
import { selectUsage, valueOf } from '../select-usage.ts'
import { splitRange } from '../usage-range.ts'
import { SUMS } from '../usage-totals.ts'
import { groupedBy, type GatewayQuery } from './gateway-query.ts'
import { selectGatewayDays } from './select-gateway-days.ts'
import { isSummed } from './summed-days.ts'

interface SelectOptions {
  /** Also by time, in steps of which each lies within such a one. */
  readonly steps?: 'hour' | 'day'
  readonly hasCosts?: boolean
}

/** SQL for the usage of all accounts by value, and by `hour` if wanted. Adds its parameters to `values`. */
export function selectAllAccounts(
  query: GatewayQuery,
  values: unknown[],
  { steps, hasCosts = false }: SelectOptions = {},
): string {
  const bind = (value: unknown): string => `$${values.push(value)}`
  const sums = hasCosts ? `${SUMS}${COST_SUMS}` : SUMS
  const hour = steps === undefined ? '' : 'hour, '
  const rows = selectRows(query, values, { hasCosts, hour, isOfDays: steps !== 'hour' })
  const grouped = groupedBy(query, 'source', bind)
  return `SELECT ${hour}${grouped.value} AS value, ${sums} FROM (${rows}) AS rows ${grouped.join} GROUP BY ${hour === '' ? '1' : '1, 2'}`
}

interface RowsOptions {
  readonly hasCosts: boolean
  readonly hour: string
  readonly isOfDays: boolean
}

/** SQL for rows with `account_id`, the value of the group as `source`, and figures, also with `hour` if wanted. */
function selectRows(
  query: GatewayQuery,
  values: unknown[],
  { hasCosts, hour, isOfDays }: RowsOptions,
): string {
  const { range, by, tagName, accountId, filter } = query
  const bind = (value: unknown): string => `$${values.push(value)}`
  if (isSummed(query)) return selectGatewayDays(query, { bind, hasCosts, isOfDays })
  const usage = selectUsage('accounts.id', splitRange(range), filter, tagName, values, hasCosts)
  const wanted = `${bind(accountId)}::uuid`
  return `SELECT accounts.id AS account_id, used.* FROM accounts CROSS JOIN LATERAL (
      SELECT ${hour}${sourceOf(by)} AS source, ${hasCosts ? `${SUMS}${COST_SUMS}` : SUMS} FROM (${usage.sql}) AS usage
      GROUP BY ${hour === '' ? '1' : '1, 2'}
    ) AS used WHERE ${wanted} IS NULL OR accounts.id = ${wanted}`
}

function sourceOf(by: GatewayQuery['by']): string {
  if (by === 'account') return 'accounts.id'
  if (by === 'project') return 'key_id'
  return by === 'region' ? 'provider' : valueOf(by)
}
