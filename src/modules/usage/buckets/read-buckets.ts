import { invalidValue } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { UsageRange } from '../usage-range.ts'
import { SUMS, totalsFromRow, type UsageTotals, type UsageTotalsRow } from '../usage-totals.ts'
import { BUCKET_WIDTHS_MS, type BucketsQuery, type Grouping } from './buckets-query.ts'
import { selectMinutes } from './select-minutes.ts'
import { selectSums } from './select-sums.ts'

/** A group of the requests of one bucket. A dimension is null if it is not grouped by. */
export interface BucketResult {
  readonly projectId: string | null
  readonly owner: { readonly kind: 'user' | 'serviceAccount'; readonly id: string } | null
  readonly keyId: string | null
  readonly model: string | null
  readonly operation: string | null
  /** The value of the tag. Null for requests without it. */
  readonly tag: string | null
  readonly totals: UsageTotals
}

export interface Bucket {
  readonly range: UsageRange
  readonly results: readonly BucketResult[]
}

/** Of one page: beyond it the page ends earlier. */
const RESULTS_MAX = 20_000

interface ResultRow extends UsageTotalsRow {
  readonly bucket: Date
  readonly project_id: string | null
  readonly user_id: string | null
  readonly service_account_id: string | null
  readonly key_id: string | null
  readonly model: string | null
  readonly operation: string | null
  readonly tag: string | null
}

/** Returns the buckets from the beginning of the range: all of it, or as many as have not too many results together. */
export async function readBuckets(queryable: Queryable, query: BucketsQuery): Promise<Bucket[]> {
  const usage = (query.width === '1m' ? selectMinutes : selectSums)(query)
  const rows = await queryable.query<ResultRow>(groupUsage(query, usage.sql, usage.values.length), [
    ...usage.values,
    RESULTS_MAX + 1,
  ])
  const results = Map.groupBy(rows, ({ bucket }) => bucket.getTime())
  const bucketMs = BUCKET_WIDTHS_MS[query.width]
  // The last bucket is not complete, and its results come again with the next page.
  const cut = rows.length > RESULTS_MAX ? rows.at(-1) : undefined
  const toMs = cut?.bucket.getTime() ?? query.range.toMs
  if (toMs <= query.range.fromMs)
    throw invalidValue('group_by', `A bucket has more than ${RESULTS_MAX} results. Group by less.`)
  const count = Math.ceil((toMs - query.range.fromMs) / bucketMs)
  return Array.from({ length: count }, (_, index) => {
    const fromMs = query.range.fromMs + index * bucketMs
    const part = results.get(fromMs) ?? []
    return { range: { fromMs, toMs: fromMs + bucketMs }, results: part.map(resultFromRow) }
  })
}

/** `usage` has the columns bucket, key_id, model, operation, tag and the counts. */
function groupUsage({ groupBy, width }: BucketsQuery, usage: string, values: number): string {
  const pick = (grouping: Grouping, column: string, type: string): string =>
    groupBy.has(grouping) ? column : `NULL::${type}`
  const needsKeys = groupBy.has('project') || groupBy.has('owner')
  const keys = needsKeys ? 'LEFT JOIN api_keys k ON k.account_id = $1::uuid AND k.id = summed.key_id' : ''
  const summedBy = [
    'bucket',
    needsKeys || groupBy.has('key') ? 'key_id' : 'NULL::uuid AS key_id',
    groupBy.has('model') ? 'model' : 'NULL::text AS model',
    groupBy.has('operation') ? 'operation' : 'NULL::text AS operation',
    groupBy.has('tag') ? 'tag' : 'NULL::text AS tag',
  ]
  // Hours are added up before keys are joined and days are made of them, because both cost more than a sum.
  return `WITH summed AS (
      SELECT ${summedBy.join(', ')}, ${SUMS} FROM (${usage}) AS usage GROUP BY 1, 2, 3, 4, 5
    )
    SELECT ${width === '1d' ? `date_trunc('day', bucket, 'UTC')` : 'bucket'} AS bucket, ${pick('project', 'coalesce(k.project_id, $1::uuid)', 'uuid')} AS project_id,
      ${pick('owner', 'k.user_id', 'uuid')} AS user_id,
      ${pick('owner', 'k.service_account_id', 'uuid')} AS service_account_id,
      ${pick('key', 'summed.key_id', 'uuid')} AS key_id, model, operation, tag, ${SUMS}
    FROM summed ${keys} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    HAVING sum(requests) > 0 OR sum(cost_nano_usd) > 0
    ORDER BY 1, cost_nano_usd DESC, requests DESC, 2, 3, 4, 5, 6, 7, 8 LIMIT $${values + 1}`
}

function resultFromRow(row: ResultRow): BucketResult {
  const { user_id: userId, service_account_id: serviceAccountId } = row
  return {
    projectId: row.project_id,
    owner:
      userId !== null
        ? { kind: 'user', id: userId }
        : serviceAccountId === null
          ? null
          : { kind: 'serviceAccount', id: serviceAccountId },
    keyId: row.key_id,
    model: row.model,
    operation: row.operation,
    tag: row.tag,
    totals: totalsFromRow(row),
  }
}
