import { Type, type Static } from 'typebox'
import type { Clock } from '../../../kernel/clock.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import { readerOf } from '../../../modules/keys/keys.ts'
import {
  LATENCY_ERROR,
  type LatencyBucket,
  type LatencyFigures,
  type Percentiles,
  type Usage,
} from '../../../modules/usage/usage.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { AccountId, objectName } from '../../../wires/usual-members.ts'
import { ANY_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { chooseGranularity, LatencyQuery, parseFilter, parseRange } from './usage-query.ts'
import { rangeToWire } from './usage-wire.ts'

const Time = Type.String({ format: 'date-time' })

const PercentilesAnswer = Type.Object({
  p50_ms: Type.Integer({ description: 'Half of the requests took at most this long.' }),
  p90_ms: Type.Integer({ description: '90 % of the requests took at most this long.' }),
  p95_ms: Type.Integer({ description: '95 % of the requests took at most this long.' }),
  p99_ms: Type.Integer({ description: '99 % of the requests took at most this long.' }),
})

const figureFields = {
  requests: Type.Integer({ description: 'How many completed requests were measured.' }),
  latency: orNull(
    PercentilesAnswer,
    'From the beginning of a request to the end of its answer. Null if there were none.',
  ),
  ttft: orNull(PercentilesAnswer, 'To the first token of a stream. Null if there were none.'),
}

const LatencyBucketAnswer = Type.Object(
  {
    start: described(Time, 'Where the bucket begins.'),
    end: described(Time, 'Where the bucket ends. It is not part of the bucket.'),
    ...figureFields,
  },
  { description: 'An hour or a day of UTC, cut to the range at both ends.' },
)

const LatencyAnswer = Type.Object({
  object: objectName('usage.latency'),
  tenant_id: AccountId,
  from: described(Time, 'Where the time range begins.'),
  to: described(Time, 'Where the time range ends. It is not part of the range.'),
  granularity: Type.Enum(['hour', 'day'], { description: 'The length of a bucket: `hour` or `day`.' }),
  by: orNull(Type.Enum(['model', 'provider', 'key', 'env']), 'What the series are of.'),
  error_bound: Type.Number({
    description:
      'The largest error of a percentile, as a part of it. Up to a millisecond more for short ones.',
  }),
  ...figureFields,
  data: Type.Array(LatencyBucketAnswer, { description: 'Without gaps, oldest first.' }),
  series: Type.Array(
    Type.Object({
      value: Type.String({
        description: 'What the figures of this group have in common, such as the id of a key or a model.',
      }),
      ...figureFields,
      data: Type.Array(LatencyBucketAnswer, {
        description: 'The buckets of this series, oldest first.',
      }),
    }),
    { description: 'The ten with the most requests. Empty without `by`.' },
  ),
})

interface LatencyParts {
  readonly usage: Usage
  readonly clock: Clock
}

export const usageLatencyRoutes = ({ usage, clock }: LatencyParts): Route[] => [
  defineRoute({
    method: 'GET',
    tag: 'Usage',
    access: ANY_KEY,
    path: '/v1/usage/latency',
    mayBeOld: true,
    summary: 'Read latency percentiles',
    query: LatencyQuery,
    responses: { 200: { description: 'Percentiles in total, by time and by group.', schema: LatencyAnswer } },
    handle: async ({ caller, query }) => {
      const reader = readerOf(caller, 'usage.read')
      const usual = query.granularity === 'day' ? '30d' : '24h'
      const { range } = parseRange(query, { usual, nowMs: clock.nowMs() })
      const granularity = chooseGranularity(query.granularity, range)
      const by = query.by ?? null
      const { operation } = query
      const filter = { ...parseFilter(query), ...(operation !== undefined && { operation }) }
      const latency = await usage.readLatency({ ...reader, range, granularity, by, filter })
      return {
        object: 'usage.latency',
        tenant_id: reader.accountId,
        ...rangeToWire(range),
        granularity,
        by,
        error_bound: LATENCY_ERROR,
        ...figuresToWire(latency.totals),
        data: latency.buckets.map(bucketToWire),
        series: latency.series.map(({ value, totals, buckets }) => ({
          value,
          ...figuresToWire(totals),
          data: buckets.map(bucketToWire),
        })),
      }
    },
  }),
]

function figuresToWire({ requests, latency, firstToken }: LatencyFigures) {
  return { requests, latency: percentilesToWire(latency), ttft: percentilesToWire(firstToken) }
}

function bucketToWire({ range, ...figures }: LatencyBucket): Static<typeof LatencyBucketAnswer> {
  return { start: toTimestamp(range.fromMs), end: toTimestamp(range.toMs), ...figuresToWire(figures) }
}

function percentilesToWire(percentiles: Percentiles | null) {
  if (percentiles === null) return null
  return {
    p50_ms: percentiles[50],
    p90_ms: percentiles[90],
    p95_ms: percentiles[95],
    p99_ms: percentiles[99],
  }
}
