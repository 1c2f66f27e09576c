import type { BucketsQuery } from './buckets-query.ts'

interface BoundBuckets {
  /** `$1` is the account, `$2` and `$3` are the range. */
  readonly values: unknown[]
  readonly bind: (value: unknown) => string
  /** SQL conditions on the columns key_id, model and operation. */
  readonly narrowed: string
  /** SQL for the labels of the filter. Null without one. */
  readonly labels: string | null
  /** SQL for the beginning of the labels to group by. Null if it is not grouped by a tag. */
  readonly prefix: string | null
}

/** Only filters that are set are in the text, because what reads many rows must not compare them with nothing. */
export function bindBuckets(query: BucketsQuery): BoundBuckets {
  const { range, filter, projectId, ownKeyId, accountId, tagName } = query
  const values: unknown[] = [accountId, new Date(range.fromMs), new Date(range.toMs)]
  const bind = (value: unknown): string => `$${values.push(value)}`
  const isIn = (column: string, wanted: readonly string[] | null, type: string): string[] =>
    wanted === null ? [] : [`${column} = ANY (${bind(wanted)}::${type}[])`]

  // The reader's project decides, whatever is asked for.
  const ofKeys = [
    ...isIn('coalesce(project_id, account_id)', projectId === null ? null : [projectId], 'uuid'),
    ...isIn('coalesce(project_id, account_id)', filter.projectIds, 'uuid'),
    ...isIn('coalesce(user_id, service_account_id)', filter.ownerIds, 'uuid'),
  ]
  const keys = `key_id IN (SELECT id FROM api_keys WHERE account_id = $1::uuid AND ${ofKeys.join(' AND ')})`
  const conditions = [
    ...isIn('key_id', ownKeyId === null ? null : [ownKeyId], 'uuid'),
    ...isIn('key_id', filter.keyIds, 'uuid'),
    ...isIn('model', filter.models, 'text'),
    ...isIn('operation', filter.operations, 'text'),
    ...(ofKeys.length === 0 ? [] : [keys]),
  ]
  return {
    values,
    bind,
    narrowed: conditions.map((condition) => ` AND ${condition}`).join(''),
    labels: filter.labels === null ? null : `${bind(filter.labels)}::text[]`,
    prefix: tagName === null ? null : `${bind(`tag:${tagName}=`)}::text`,
  }
}
