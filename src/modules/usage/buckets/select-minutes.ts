import type { UsageSelection } from '../select-usage.ts'
import { firstIdAt } from '../../../kernel/identifiers.ts'
import { RECORD_COUNTS } from '../usage-totals.ts'
import { ID_AGE_MS_MAX } from '../list-records.ts'
import { valueOfTag } from '../value-of-tag.ts'
import { bindBuckets } from './bind-buckets.ts'
import type { BucketsQuery } from './buckets-query.ts'

/** Minutes, from the records of requests, which are found by ids that begin with a time. */
export function selectMinutes(query: BucketsQuery): UsageSelection {
  const { fromMs, toMs } = query.range
  const { values, narrowed, labels, prefix, bind } = bindBuckets(query)
  const tag =
    prefix === null
      ? 'NULL::text'
      : `(SELECT ${valueOfTag('label', prefix)} FROM unnest(labels) AS label WHERE starts_with(label, ${prefix}) LIMIT 1)`
  const firstId = bind(firstIdAt(Math.max(0, fromMs - ID_AGE_MS_MAX)))
  const sql = `SELECT date_trunc('minute', created_at, 'UTC') AS bucket, key_id, model, operation, ${tag} AS tag,
      ${RECORD_COUNTS} FROM usage_records
    WHERE account_id = $1::uuid AND created_at >= $2::timestamptz AND created_at < $3::timestamptz
      AND id >= ${firstId}::uuid AND id < ${bind(firstIdAt(toMs))}::uuid${narrowed}
      ${labels === null ? '' : `AND labels && ${labels}`}`
  return { sql, values }
}
