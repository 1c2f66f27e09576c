import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type {
  Spending,
  Timeseries,
  UsageBucket,
  UsageRange,
  UsageTotals,
} from '../../../modules/usage/usage.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { AccountId, CostUsd, objectName } from '../../../wires/usual-members.ts'
import { OutlookAnswer } from './outlook-wire.ts'
import { AnomalyAnswer } from './usage-anomalies.ts'

const Time = Type.String({ format: 'date-time' })

export const WIRE_NAMES = [
  'openai-chat',
  'openai-completions',
  'anthropic-messages',
  'openai-responses',
] as const

export const tokenFields = {
  prompt_tokens: Type.Integer({ description: 'Tokens of the input.' }),
  cached_tokens: Type.Integer({ description: 'A part of `prompt_tokens`: read from a cache.' }),
  cache_write_tokens: Type.Integer({ description: 'A part of `prompt_tokens`: written to a cache.' }),
  completion_tokens: Type.Integer({ description: 'Tokens of the output, with those of the reasoning.' }),
  reasoning_tokens: Type.Integer({ description: 'A part of `completion_tokens`.' }),
  total_tokens: Type.Integer({ description: '`prompt_tokens` and `completion_tokens` together.' }),
}

export const costFields = {
  cost_usd: CostUsd,
  promotional_usd: Type.Number({ description: 'The part of the cost paid with promotional credit.' }),
}

export const totalsFields = {
  requests: Type.Integer({ description: 'How many requests.' }),
  ...tokenFields,
  ...costFields,
}

export const rangeFields = {
  from: described(Time, 'Where the time range begins.'),
  to: described(Time, 'Where the time range ends. It is not part of the range.'),
}

export const Bucket = Type.Object(
  {
    start: described(Time, 'Where the bucket begins.'),
    end: described(Time, 'Where the bucket ends. It is not part of the bucket.'),
    ...totalsFields,
  },
  { description: 'An hour or a day of UTC, cut to the range at both ends.' },
)

export const hitRateField = {
  cache_hit_rate: orNull(
    Type.Number(),
    '`cached_tokens` as a part of `prompt_tokens`, from 0 to 1. Null when there were no prompts.',
  ),
}

export const changeField = {
  change: Type.Object(
    {
      requests: orNull(Type.Number(), 'Null when there were none before.'),
      total_tokens: orNull(Type.Number(), 'Null when there were none before.'),
      cost_usd: orNull(Type.Number(), 'Null when nothing was spent before.'),
    },
    { description: 'Against the time before, as a ratio: 0.25 is a quarter more.' },
  ),
}

export const SummaryAnswer = Type.Object({
  object: objectName('usage.summary'),
  tenant_id: AccountId,
  window: orNull(Type.String(), 'Null when the range was given by its ends.'),
  ...rangeFields,
  ...totalsFields,
  ...hitRateField,
  averages: Type.Object(
    {
      cost_usd_per_request: Type.Number({ description: 'US dollars a request.' }),
      tokens_per_request: Type.Number({ description: 'Tokens a request.' }),
      requests_per_hour: Type.Number({ description: 'Requests an hour.' }),
      cost_usd_per_hour: Type.Number({ description: 'US dollars an hour.' }),
    },
    { description: 'The averages of the range.' },
  ),
  previous: Type.Object(
    { ...rangeFields, ...totalsFields, ...hitRateField },
    { description: 'The same time before.' },
  ),
  ...changeField,
})

export const TodayAnswer = Type.Object({
  ...SummaryAnswer.properties,
  object: objectName('usage.today'),
  date: Type.String({ format: 'date', description: 'The day of UTC.' }),
  burn_rate_usd_per_hour: Type.Number({ description: 'What the last sixty minutes cost.' }),
  outlook: OutlookAnswer,
  anomaly: orNull(
    AnomalyAnswer,
    'What is unusual about the day so far, whatever is filtered by. `GET /v1/usage/anomalies` says more.',
  ),
  hours: Type.Array(Bucket, { description: 'Every hour of the day so far.' }),
  deprecated_models: Type.Array(Type.String(), {
    description:
      'Models that were used in the last 30 days and that are deprecated or end soon. `GET /v1/deprecations` says more.',
  }),
})

export const TimeseriesAnswer = Type.Object({
  object: objectName('usage.timeseries'),
  tenant_id: AccountId,
  ...rangeFields,
  granularity: Type.Enum(['hour', 'day'], { description: 'The length of a bucket: `hour` or `day`.' }),
  by: orNull(Type.String(), 'What the series are of.'),
  data: Type.Array(Bucket, { description: 'Without gaps, oldest first.' }),
  series: Type.Array(
    Type.Object({
      value: Type.String({
        description: 'What the figures of this group have in common, such as the id of a key or a model.',
      }),
      data: Type.Array(Bucket, {
        description: 'The buckets of this series, oldest first.',
      }),
    }),
    {
      description: 'The dearest first. Empty without `by`.',
    },
  ),
  other: Type.Array(Bucket, { description: 'What is in no series. Empty when the series hold everything.' }),
})

export const groupFields = {
  ...totalsFields,
  share: Type.Number({ description: 'The part of the whole cost.' }),
}

export const SpendingAnswer = Type.Object({
  object: objectName('usage.spending'),
  tenant_id: AccountId,
  ...rangeFields,
  by: Type.String({ description: 'What the figures are grouped by.' }),
  ...totalsFields,
  data: Type.Array(
    Type.Object({
      value: Type.String({
        description: 'What the figures of this group have in common, such as the id of a key or a model.',
      }),
      name: Type.String({ description: 'The name of the group, for people.' }),
      ...groupFields,
    }),
    {
      description: 'The dearest first. The shares of these and of `other` add up to one.',
    },
  ),
  other: Type.Object(
    { groups: Type.Integer({ description: 'How many groups that is.' }), ...groupFields },
    { description: 'What the remaining groups come to together.' },
  ),
})

export const GpuBillingAnswer = Type.Object({
  object: objectName('usage.gpu_billing'),
  tenant_id: AccountId,
  ...rangeFields,
  ...costFields,
  burn_rate_usd_per_hour: Type.Number({ description: 'Spent on GPUs in the last sixty minutes.' }),
  data: Type.Array(
    Type.Object({
      model_id: Type.String({ description: 'The id of the model.' }),
      ...costFields,
      share: Type.Number({ description: 'Its part of the whole, from 0 to 1.' }),
    }),
    {
      description: 'A line for each deployment that had a GPU, the dearest first.',
    },
  ),
})

export function totalsToWire(totals: UsageTotals) {
  return { requests: totals.requests, ...tokensToWire(totals), ...costToWire(totals) }
}

export function costToWire({ costNanoUsd, promotionalNanoUsd }: UsageCost) {
  return { cost_usd: usdFromNanoUsd(costNanoUsd), promotional_usd: usdFromNanoUsd(promotionalNanoUsd) }
}

type UsageCost = Pick<UsageTotals, 'costNanoUsd' | 'promotionalNanoUsd'>
type UsageTokens = Omit<UsageTotals, 'requests' | 'units' | keyof UsageCost>

export function tokensToWire(tokens: UsageTokens) {
  return {
    prompt_tokens: tokens.promptTokens,
    cached_tokens: tokens.cachedTokens,
    cache_write_tokens: tokens.cacheWriteTokens,
    completion_tokens: tokens.completionTokens,
    reasoning_tokens: tokens.reasoningTokens,
    total_tokens: tokens.promptTokens + tokens.completionTokens,
  }
}

export function rangeToWire({ fromMs, toMs }: UsageRange) {
  return { from: toTimestamp(fromMs), to: toTimestamp(toMs) }
}

export function bucketToWire({ range, totals }: UsageBucket): Static<typeof Bucket> {
  return { start: toTimestamp(range.fromMs), end: toTimestamp(range.toMs), ...totalsToWire(totals) }
}

export function timeseriesToWire({ buckets, series, rest }: Timeseries) {
  return {
    data: buckets.map(bucketToWire),
    series: series.map((one) => ({ value: one.value, data: one.buckets.map(bucketToWire) })),
    other: rest.map(bucketToWire),
  }
}

export function spendingToWire<Name extends object>(
  { totals, groups, rest }: Spending,
  nameGroup: (group: { readonly value: string; readonly name: string }) => Name,
) {
  return {
    ...totalsToWire(totals),
    data: groups.map((group) => ({ ...nameGroup(group), ...totalsToWire(group.totals), share: group.share })),
    other: { groups: rest.groups, ...totalsToWire(rest.totals), share: rest.share },
  }
}

/** The wire that the client used, by operation. */
const WIRES: ReadonlyMap<string, (typeof WIRE_NAMES)[number]> = new Map([
  ['chat', 'openai-chat'],
  ['completion', 'openai-completions'],
  ['messages', 'anthropic-messages'],
  ['responses', 'openai-responses'],
])

/** Returns null for operations with only one wire. */
export function wireOf(operation: string): (typeof WIRE_NAMES)[number] | null {
  return WIRES.get(operation) ?? null
}
