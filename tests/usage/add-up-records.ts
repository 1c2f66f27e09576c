import type { BucketResult, BucketsQuery, BucketWidth, Grouping } from '../../src/modules/usage/usage.ts'
import { BUCKET_WIDTHS_MS, DAY_MS, HOUR_MS } from '../../src/modules/usage/usage.ts'
import type { Queryable } from '../../src/storage/database.ts'

interface RecordRow {
  readonly at: Date
  readonly key_id: string
  readonly project_id: string
  readonly user_id: string | null
  readonly service_account_id: string | null
  readonly model: string
  readonly operation: string
  readonly labels: readonly string[]
  readonly prompt: number
  readonly completion: number
  readonly cost: bigint
  readonly promotional: bigint
}

export function readRecords(queryable: Queryable, accountId: string): Promise<RecordRow[]> {
  return queryable.query<RecordRow>(
    `SELECT record.created_at AS at, key_id, coalesce(key.project_id, key.account_id) AS project_id, user_id, service_account_id, model,
       operation, coalesce(labels, '{}') AS labels, prompt_tokens::int AS prompt, completion_tokens::int AS completion, cost_nano_usd AS cost,
       promotional_nano_usd AS promotional
     FROM usage_records record JOIN api_keys key ON key.id = key_id WHERE record.account_id = $1`,
    [accountId],
  )
}

/** Answers a query from the requests themselves. */
export function addUpRecords(
  records: readonly RecordRow[],
  query: BucketsQuery,
): (BucketResult & { fromMs: number })[] {
  const { groupBy, tagName, filter, width, range, projectId, ownKeyId } = query
  const isIn = (wanted: readonly string[] | null, ...values: (string | null)[]): boolean =>
    wanted === null || values.some((value) => value !== null && wanted.includes(value))
  const found = records.filter(
    (row) =>
      row.at.getTime() >= range.fromMs &&
      row.at.getTime() < range.toMs &&
      isIn(projectId === null ? null : [projectId], row.project_id) &&
      isIn(ownKeyId === null ? null : [ownKeyId], row.key_id) &&
      isIn(filter.projectIds, row.project_id) &&
      isIn(filter.ownerIds, row.user_id, row.service_account_id) &&
      isIn(filter.keyIds, row.key_id) &&
      isIn(filter.models, row.model) &&
      isIn(filter.operations, row.operation) &&
      isIn(filter.labels, ...row.labels),
  )
  const nameOf = (row: RecordRow): BucketResult & { fromMs: number } => ({
    fromMs: Math.floor(row.at.getTime() / BUCKET_WIDTHS_MS[width]) * BUCKET_WIDTHS_MS[width],
    projectId: groupBy.has('project') ? row.project_id : null,
    owner: !groupBy.has('owner')
      ? null
      : row.user_id !== null
        ? { kind: 'user', id: row.user_id }
        : row.service_account_id !== null
          ? { kind: 'serviceAccount', id: row.service_account_id }
          : null,
    keyId: groupBy.has('key') ? row.key_id : null,
    model: groupBy.has('model') ? row.model : null,
    operation: groupBy.has('operation') ? row.operation : null,
    tag:
      tagName === null
        ? null
        : (row.labels.find((label) => label.startsWith(`tag:${tagName}=`))?.slice(`tag:${tagName}=`.length) ??
          null),
    totals: NO_TOTALS,
  })
  const groups = Map.groupBy(found, (row) => JSON.stringify({ ...nameOf(row), totals: null }))
  return [...groups.values()].flatMap((rows) => {
    const [first] = rows
    return first === undefined ? [] : [{ ...nameOf(first), totals: totalsOf(rows) }]
  })
}

const NO_TOTALS = {
  requests: 0,
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  units: 0,
  costNanoUsd: 0n,
  promotionalNanoUsd: 0n,
}

function totalsOf(rows: readonly RecordRow[]): BucketResult['totals'] {
  return {
    ...NO_TOTALS,
    requests: rows.length,
    promptTokens: rows.reduce((sum, { prompt }) => sum + prompt, 0),
    completionTokens: rows.reduce((sum, { completion }) => sum + completion, 0),
    costNanoUsd: rows.reduce((sum, { cost }) => sum + cost, 0n),
    promotionalNanoUsd: rows.reduce((sum, { promotional }) => sum + promotional, 0n),
  }
}

interface Asked {
  readonly accountId: string
  readonly keyIds: readonly string[]
  readonly fromMs: number
  readonly days: number
}

const NO_FILTER = {
  projectIds: null,
  ownerIds: null,
  keyIds: null,
  models: null,
  operations: null,
  labels: null,
}

const GROUPINGS: readonly (readonly Grouping[])[] = [
  [],
  ['project'],
  ['owner'],
  ['key'],
  ['model'],
  ['operation', 'model'],
  ['project', 'operation', 'model'],
  ['key', 'owner', 'model'],
]

const OF_TAG = { ...NO_FILTER, labels: ['tag:team=b', 'tag:team=a'] }

/** With each combination of columns that decides which sums are read. */
export const QUERIES: readonly ((asked: Asked) => BucketsQuery)[] = (['1d', '1h'] as const).flatMap(
  (width) => [
    ...GROUPINGS.map((groupBy) => (asked: Asked) => ask(asked, width, { groupBy: new Set(groupBy) })),
    ...([['tag'], ['tag', 'project', 'model'], ['tag', 'owner']] as const).map(
      (groupBy) => (asked: Asked) => ask(asked, width, { tagName: 'team', groupBy: new Set(groupBy) }),
    ),
    (asked) => ask(asked, width, { filter: { ...NO_FILTER, labels: ['tag:team=a'] } }),
    (asked) => ask(asked, width, { filter: OF_TAG, tagName: 'team', groupBy: new Set(['tag', 'model']) }),
    (asked) => ask(asked, width, { filter: { ...NO_FILTER, keyIds: asked.keyIds.slice(1, 3) } }),
    (asked) =>
      ask(asked, width, { filter: { ...NO_FILTER, projectIds: [asked.accountId], models: ['one'] } }),
    (asked) =>
      ask(asked, width, { filter: { ...NO_FILTER, operations: ['chat'] }, groupBy: new Set(['key']) }),
    (asked) => ask(asked, width, { ownKeyId: asked.keyIds[1] ?? null }),
    (asked) => ask(asked, width, { projectId: asked.accountId, groupBy: new Set(['owner']) }),
    // A part of the days, and hours that are no whole days.
    (asked) => {
      const partMs = width === '1h' ? 5 * HOUR_MS : DAY_MS
      return ask({ ...asked, fromMs: asked.fromMs + partMs, days: asked.days - 2 }, width, {
        groupBy: new Set(['model']),
      })
    },
  ],
)

function ask(
  { accountId, fromMs, days }: Asked,
  width: BucketWidth,
  rest: Partial<BucketsQuery>,
): BucketsQuery {
  return {
    accountId,
    projectId: null,
    ownKeyId: null,
    range: { fromMs, toMs: fromMs + days * DAY_MS },
    width: width,
    groupBy: new Set(),
    tagName: null,
    filter: NO_FILTER,
    ...rest,
  }
}
