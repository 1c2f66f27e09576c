import type { UsageSelection } from '../select-usage.ts'
import { GRAINS, type Grain } from '../sums/grains.ts'
import { COUNT_COLUMNS } from '../usage-totals.ts'
import { valueOfTag } from '../value-of-tag.ts'
import { bindBuckets } from './bind-buckets.ts'
import type { BucketsQuery, Grouping } from './buckets-query.ts'

/**
 * Hours and days, from sums. Sums by tag are separate from those of everything: what has no such tag is everything, less what
 * has it.
 */
export function selectSums(query: BucketsQuery): UsageSelection {
  const { values, narrowed, labels, prefix, bind } = bindBuckets(query)
  const from = (isOfLabels: boolean, tag: string, sign: '' | '-', condition: string): string => {
    const counts = COUNT_COLUMNS.map((column) => `${sign}${column}`).join(', ')
    return selectFrom(query, {
      isOfLabels,
      bind,
      columns: `${tag} AS tag, ${counts}`,
      condition: narrowed + condition,
    })
  }
  if (labels !== null) {
    const tag = prefix === null ? 'NULL::text' : valueOfTag('label', prefix)
    return { sql: from(true, tag, '', ` AND label = ANY (${labels})`), values }
  }
  const all = from(false, 'NULL::text', '', '')
  if (prefix === null) return { sql: all, values }
  const hasTag = ` AND starts_with(label, ${prefix})`
  const parts = [
    all,
    from(true, valueOfTag('label', prefix), '', hasTag),
    from(true, 'NULL::text', '-', hasTag),
  ]
  return { sql: parts.join(' UNION ALL '), values }
}

interface Selected {
  /** Of the sums by label, otherwise of those of everything. */
  readonly isOfLabels: boolean
  readonly columns: string
  readonly condition: string
  readonly bind: (value: unknown) => string
}

/** One statement reads all of it, so that what is added up meanwhile counts once. */
function selectFrom(query: BucketsQuery, { isOfLabels, columns, condition, bind }: Selected): string {
  const grain = findGrain(query, isOfLabels)
  const rollups = isOfLabels ? 'usage_by_label' : 'usage_rollups'
  const fromHours = (source: string, fromTime: string, toTime: string): string =>
    `SELECT ${bucketOfHours(query)} AS bucket, key_id, model, operation, ${columns} FROM ${source}
     WHERE account_id = $1::uuid AND hour >= ${fromTime} AND hour < ${toTime}${condition}`
  if (grain === null) return fromHours(rollups, FROM, TO)
  return [
    `SELECT begins AS bucket, key_id, model, operation, ${columns} FROM usage_sums
     WHERE account_id = $1::uuid AND grain = ${bind(grain.name)}::text AND begins >= ${FROM} AND begins < least(${TO}, ${SUMMED_UNTIL})
       AND (begins AT TIME ZONE 'UTC')::date <> ALL (${STALE_DAYS})${condition}`,
    fromHours(
      `unnest(${STALE_DAYS}) AS stale (day) CROSS JOIN ${rollups}`,
      `greatest(${FROM}, ${startOf('day')})`,
      `least(${TO}, ${startOf('(day + 1)')})`,
    ),
    fromHours(rollups, `greatest(${FROM}, ${SUMMED_UNTIL})`, TO),
  ].join(' UNION ALL ')
}

const FROM = '$2::timestamptz'
const TO = '$3::timestamptz'

const startOf = (day: string): string => `(${day}::timestamp AT TIME ZONE 'UTC')`

/** Accounts with few rollups have no sums. */
const SUMMED_UNTIL = `coalesce((
  SELECT ${startOf('summed_until')} FROM usage_sum_progress WHERE account_id = $1::uuid), '-infinity')`

/** Days whose sums are not right any more. */
const STALE_DAYS = `ARRAY(
  SELECT DISTINCT day FROM usage_stale_days JOIN usage_sum_progress USING (account_id)
  WHERE account_id = $1::uuid AND day < summed_until)`

/** Returns the grain with the fewest rows that has all columns which are needed. Null if only the rollups have them. */
function findGrain(
  { width, groupBy, filter, projectId, ownKeyId }: BucketsQuery,
  isOfLabels: boolean,
): Grain | null {
  const isByKey =
    KEYED.some((grouping) => groupBy.has(grouping)) ||
    [projectId, ownKeyId, filter.projectIds, filter.ownerIds, filter.keyIds].some((wanted) => wanted !== null)
  const isByModel = groupBy.has('model') || filter.models !== null
  const found = GRAINS.find(
    (grain) =>
      grain.isOfHours === (width === '1h') &&
      grain.isOfLabels === isOfLabels &&
      (!isByKey || grain.columns.includes('key_id')) &&
      (!isByModel || grain.columns.includes('model')),
  )
  return found ?? null
}

const KEYED: readonly Grouping[] = ['project', 'owner', 'key']

// With keys there are nearly as many sums by hour as rows, so that days are made of the rows.
function bucketOfHours({ width, groupBy }: BucketsQuery): string {
  return width === '1d' && KEYED.some((grouping) => groupBy.has(grouping))
    ? `date_trunc('day', hour, 'UTC')`
    : 'hour'
}
