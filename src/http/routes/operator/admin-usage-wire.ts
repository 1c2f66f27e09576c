import { Type, type Static } from 'typebox'
import type {
  DescribedGatewayUsage,
  GatewayUsage,
  GroupName,
  GroupsQuery,
  NamedGroup,
  Timeseries,
  UsageBucket,
  UsageGroup,
  UsageRange,
} from '../../../modules/usage/usage.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { orNull } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { csvRow } from '../../answers/csv-row.ts'
import { changesOf, hitRateOf } from '../account/usage-summary.ts'
import {
  Bucket,
  bucketToWire,
  changeField,
  groupFields,
  hitRateField,
  rangeFields,
  rangeToWire,
  totalsFields,
  totalsToWire,
} from '../account/usage-wire.ts'
import { costCells, costFields, costsToWire } from './usage-costs-wire.ts'

const errorFields = {
  errors: Type.Object(
    {
      failed: Type.Integer({ description: 'Requests that failed at a provider or in the gateway.' }),
      refused: Type.Integer({ description: 'Requests that were refused, such as invalid ones.' }),
      disconnected: Type.Integer({ description: 'Requests whose client left before the answer.' }),
    },
    {
      description:
        'Requests that did not complete, most of which were not charged and are not in `requests`. Hours at the ends count as a whole if an error of them is within the range.',
    },
  ),
  error_rate: orNull(
    Type.Number(),
    '`errors.failed` as a part of `requests` and `errors.failed` together. Null when there were none.',
  ),
}

const SpreadAnswer = Type.Object({
  p50_ms: Type.Integer({ description: 'Half of the requests took at most this long.' }),
  p95_ms: Type.Integer({ description: '95 % of the requests took at most this long.' }),
})

const previousFields = { ...totalsFields, ...hitRateField }

const valueFields = {
  value: Type.String({
    description:
      'What the group has in common: an id or a name. Empty where there is none, such as no tag or no known region.',
  }),
  name: Type.String({ description: 'The name of the group, for people.' }),
  tenant_id: orNull(Type.String(), 'The account of an account, a project or a key.'),
  account_name: orNull(Type.String(), 'The name of that account.'),
}

export const GatewayUsageAnswer = Type.Object({
  object: objectName('usage.accounts'),
  by: Type.String({ description: 'What the figures are grouped by.' }),
  order: Type.String({ description: 'What the groups are sorted by.' }),
  ...rangeFields,
  ...totalsFields,
  ...hitRateField,
  ...errorFields,
  ...costFields,
  error_kinds: Type.Array(
    Type.Object({
      outcome: Type.String({ description: '`failed`, `refused` or `disconnected`.' }),
      http_status: Type.Integer({ description: 'The status of the answer.' }),
      error_code: orNull(Type.String(), 'The `code` of the error.'),
      requests: Type.Integer({ description: 'How many requests ended so.' }),
    }),
    { description: 'The twenty most frequent kinds of errors.' },
  ),
  previous: Type.Object({ ...rangeFields, ...previousFields }, { description: 'The same time before.' }),
  ...changeField,
  data: Type.Array(
    Type.Object({
      ...valueFields,
      ...groupFields,
      ...hitRateField,
      ...errorFields,
      ...costFields,
      latency: orNull(
        SpreadAnswer,
        'Of completed requests, within 5 %. Null if none was measured, for requests without the tag that is grouped by, and by tag for more than 45 days ago.',
      ),
      ttft: orNull(SpreadAnswer, 'To the first token of a stream. Null if none was measured.'),
      previous: Type.Object(previousFields, { description: 'The same time before.' }),
      ...changeField,
    }),
    { description: 'The largest first. The shares of these and of `other` add up to one.' },
  ),
  other: Type.Object(
    { groups: Type.Integer({ description: 'How many groups that is.' }), ...groupFields },
    { description: 'What the remaining groups come to together.' },
  ),
})

export const GatewayTimeseriesAnswer = Type.Object({
  object: objectName('usage.timeseries'),
  ...rangeFields,
  granularity: Type.Enum(['hour', 'day'], { description: 'The length of a bucket: `hour` or `day`.' }),
  by: orNull(Type.String(), 'What the series are of.'),
  data: Type.Array(Bucket, { description: 'Without gaps, oldest first.' }),
  series: Type.Array(
    Type.Object({
      ...valueFields,
      data: Type.Array(Bucket, { description: 'The buckets of this series, oldest first.' }),
    }),
    { description: 'The dearest first. Empty without `by`.' },
  ),
  other: Type.Array(Bucket, { description: 'What is in no series. Empty when the series hold everything.' }),
})

interface AnsweredQuery extends GroupsQuery {
  /** As it was asked for. */
  readonly asked: string
}

export function gatewayUsageToWire(
  usage: DescribedGatewayUsage,
  query: AnsweredQuery,
): Static<typeof GatewayUsageAnswer> {
  const { totals, previous, groups, rest, errorKinds } = usage
  const [now, before] = [totalsToWire(totals), totalsToWire(previous)]
  return {
    object: 'usage.accounts',
    by: query.asked,
    order: query.order,
    ...rangeToWire(query.range),
    ...now,
    cache_hit_rate: hitRateOf(totals),
    ...errorsToWire(usage),
    ...costsToWire(usage),
    error_kinds: errorKinds.map((kind) => ({
      outcome: kind.outcome,
      http_status: kind.httpStatus,
      error_code: kind.errorCode || null,
      requests: kind.requests,
    })),
    previous: { ...rangeToWire(query.previousRange), ...before, cache_hit_rate: hitRateOf(previous) },
    change: changesOf(before, now),
    data: groups.map((group) => groupToWire(query, group)),
    other: { groups: rest.groups, ...totalsToWire(rest.totals), share: rest.share },
  }
}

function groupToWire(
  query: GroupsQuery,
  group: NamedGroup,
): Static<typeof GatewayUsageAnswer>['data'][number] {
  const { totals, previous, share } = group
  const [now, before] = [totalsToWire(totals), totalsToWire(previous)]
  return {
    ...valueToWire(query, group.value, group),
    ...now,
    share,
    cache_hit_rate: hitRateOf(totals),
    ...errorsToWire(group),
    ...costsToWire(group),
    latency: spreadToWire(group.latency),
    ttft: spreadToWire(group.firstToken),
    previous: { ...before, cache_hit_rate: hitRateOf(previous) },
    change: changesOf(before, now),
  }
}

function valueToWire({ by }: { readonly by: string | null }, value: string, { name, account }: GroupName) {
  return {
    value: by === 'project' ? wireId('project', value) : value,
    name,
    tenant_id: account?.id ?? null,
    account_name: account?.name ?? null,
  }
}

function errorsToWire({ totals, errors }: Pick<GatewayUsage, 'totals' | 'errors'>) {
  const ended = totals.requests + errors.failed
  return {
    errors,
    error_rate: ended === 0 ? null : Math.round((errors.failed / ended) * 1e6) / 1e6,
  }
}

function spreadToWire(spread: NamedGroup['latency']) {
  return spread && { p50_ms: spread.p50, p95_ms: spread.p95 }
}

export function gatewayTimeseriesToWire(
  { buckets, series, rest, names }: Timeseries & { readonly names: ReadonlyMap<string, GroupName> },
  query: { readonly by: string | null },
) {
  const toWire = (some: readonly UsageBucket[]) => some.map(bucketToWire)
  return {
    data: toWire(buckets),
    series: series.map(({ value, buckets: own }) => ({
      ...valueToWire(query, value, names.get(value) ?? { name: value, account: null }),
      data: toWire(own),
    })),
    other: toWire(rest),
  }
}

type Exported = AsyncIterable<{
  readonly groups: readonly (UsageGroup & GroupName)[]
  readonly rest: GatewayUsage['rest'] | null
}>

/** One line a group, and one for all groups beyond the limit. */
export async function* writeUsageCsv(query: AnsweredQuery, parts: Exported): AsyncGenerator<string> {
  yield csvRow(CSV_COLUMNS)
  for await (const { groups, rest } of parts) {
    yield groups.map((group) => groupToCsv(query, valueToWire(query, group.value, group), group)).join('')
    if (rest !== null)
      yield groupToCsv(
        query,
        { value: '', name: `${rest.groups} other groups`, tenant_id: null, account_name: null },
        rest,
      )
  }
}

const CSV_COLUMNS = [
  'from',
  'to',
  'by',
  'value',
  'name',
  'account_id',
  'account',
  'requests',
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cost_usd',
  'promotional_usd',
  'failed',
  'refused',
  'disconnected',
  'previous_requests',
  'previous_total_tokens',
  'previous_cost_usd',
  ...Object.keys(costFields),
]

function groupToCsv(
  { range, asked }: { readonly range: UsageRange; readonly asked: string },
  { value, name, tenant_id: accountId, account_name: accountName }: ReturnType<typeof valueToWire>,
  { totals, previous, errors, costs }: Pick<GatewayUsage, 'totals' | 'previous' | 'errors' | 'costs'>,
): string {
  const { from, to } = rangeToWire(range)
  return csvRow([
    from,
    to,
    asked,
    value,
    name,
    accountId,
    accountName,
    totals.requests,
    totals.promptTokens,
    totals.cachedTokens,
    totals.cacheWriteTokens,
    totals.completionTokens,
    totals.reasoningTokens,
    { nanoUsd: totals.costNanoUsd },
    { nanoUsd: totals.promotionalNanoUsd },
    errors.failed,
    errors.refused,
    errors.disconnected,
    previous.requests,
    previous.promptTokens + previous.completionTokens,
    { nanoUsd: previous.costNanoUsd },
    ...costCells(costs),
  ])
}
