import type { UsageSelection } from '../select-usage.ts'
import { COUNT_COLUMNS } from '../usage-totals.ts'
import { valueOfTag } from '../value-of-tag.ts'
import { bindBuckets } from './bind-buckets.ts'
import type { BucketsQuery } from './buckets-query.ts'

/**
 * Hours, from sums. Sums by tag are separate from those of everything: what has no such tag is everything, less what
 * has it.
 */
export function selectHours(query: BucketsQuery): UsageSelection {
  const { values, narrowed, labels, prefix } = bindBuckets(query)
  // With keys there are nearly as many sums by hour as rows, so that days are made of the rows.
  const isByKey = (['project', 'owner', 'key'] as const).some((grouping) => query.groupBy.has(grouping))
  const bucket = query.width === '1d' && isByKey ? `date_trunc('day', hour, 'UTC')` : 'hour'
  const columns = `${bucket} AS bucket, key_id, model, operation`
  const within = `account_id = $1::uuid AND hour >= $2::timestamptz AND hour < $3::timestamptz${narrowed}`
  const all = `SELECT ${columns}, NULL::text AS tag, ${COUNT_COLUMNS.join(', ')} FROM usage_rollups WHERE ${within}`
  const tagged = (tag: string, sign: '' | '-', condition: string): string =>
    `SELECT ${columns}, ${tag} AS tag, ${COUNT_COLUMNS.map((column) => `${sign}${column}`).join(', ')}
     FROM usage_by_label WHERE ${within} AND ${condition}`

  if (labels !== null) {
    const tag = prefix === null ? 'NULL::text' : valueOfTag('label', prefix)
    return { sql: tagged(tag, '', `label = ANY (${labels})`), values }
  }
  if (prefix === null) return { sql: all, values }
  const hasTag = `starts_with(label, ${prefix})`
  const parts = [all, tagged(valueOfTag('label', prefix), '', hasTag), tagged('NULL::text', '-', hasTag)]
  return { sql: parts.join(' UNION ALL '), values }
}
