import { selectUsage, valueOf } from '../select-usage.ts'
import { splitRange } from '../usage-range.ts'
import { COST_SUMS } from '../usage-costs.ts'
import { SUMS } from '../usage-totals.ts'
import { groupedBy, type GatewayDimension, type GatewayQuery } from './gateway-query.ts'

/**
 * SQL for the usage of all accounts by value, and by hour if wanted. Each account is read by the index that begins with its id.
 * Adds its parameters to `values`.
 */
export function selectAllAccounts(
  query: GatewayQuery,
  values: unknown[],
  { isByHour = false, hasCosts = false }: { readonly isByHour?: boolean; readonly hasCosts?: boolean } = {},
): string {
  const { range, by, tagName, accountId, filter } = query
  const bind = (value: unknown): string => `$${values.push(value)}`
  const usage = selectUsage('accounts.id', splitRange(range), filter, tagName, values, hasCosts)
  const sums = hasCosts ? `${SUMS}${COST_SUMS}` : SUMS
  const hour = isByHour ? 'hour, ' : ''
  const grouped = groupedBy(query, 'source', bind)
  const wanted = `${bind(accountId)}::uuid`
  return `SELECT ${hour}${grouped.value} AS value, ${sums} FROM (
      SELECT accounts.id AS account_id, used.* FROM accounts CROSS JOIN LATERAL (
        SELECT ${hour}${sourceOf(by)} AS source, ${sums} FROM (${usage.sql}) AS usage GROUP BY ${isByHour ? '1, 2' : '1'}
      ) AS used WHERE ${wanted} IS NULL OR accounts.id = ${wanted}
    ) AS rows ${grouped.join} GROUP BY ${isByHour ? '1, 2' : '1'}`
}

function sourceOf(by: GatewayDimension): string {
  if (by === 'account') return 'accounts.id'
  if (by === 'project') return 'key_id'
  return by === 'region' ? 'provider' : valueOf(by)
}
