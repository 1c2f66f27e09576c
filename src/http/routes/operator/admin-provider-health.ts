import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import { toTimestamp, type Clock } from '../../../kernel/clock.ts'
import {
  wholeBuckets,
  type HealthFigures,
  type Usage,
  type VendorHealth,
} from '../../../modules/usage/usage.ts'
import { orNull } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { chooseGranularity, parseRange, rangeFields, Text } from '../account/usage-query.ts'
import { rangeToWire } from '../account/usage-wire.ts'

const DAY_MS = 86_400_000
/** So long hours are kept, and so many buckets an answer has for each provider. */
const HOURS_RANGE_DAYS_MAX = 7
const DAYS_MAX = 366

const HealthQuery = Type.Object({
  granularity: Type.Optional(
    Type.Enum(['hour', 'day'], {
      description: `Hours or days of UTC. Hours for up to three days unless told, and for at most ${HOURS_RANGE_DAYS_MAX}.`,
    }),
  ),
  ...rangeFields,
  provider: Type.Optional(Text('Only this provider.')),
  model: Type.Optional(Text('Only calls for this model.')),
})

const Spread = Type.Object({
  p50_ms: Type.Integer({ description: 'Half of the answers took at most this long.' }),
  p95_ms: Type.Integer({ description: '95 % of the answers took at most this long.' }),
})

const figures = {
  calls: Type.Integer({ description: 'Attempts, also those that were followed by another one.' }),
  failures: Type.Integer({
    description:
      'Those that failed through the provider, or the way to it: no connection, no answer, a status of 5xx.',
  }),
  limited: Type.Integer({ description: 'Those that it refused because there were too many.' }),
  error_rate: orNull(Type.Number(), '`failures` as a part of `calls`. Null without calls.'),
  uptime: orNull(
    Type.Number(),
    'The part of the hours with calls in which more than half of the calls did not fail. Null without calls, or where no hours are left.',
  ),
  latency: orNull(Spread, 'Of complete answers, from the attempt on, within 5 %. Null if none was measured.'),
  ttft: orNull(Spread, 'To the first token of a stream. Null if none was measured.'),
  tokens_per_second: orNull(Type.Number(), 'That one stream writes after its first token, on average.'),
  streamed_tokens: Type.Integer({ description: 'Tokens that all streams wrote.' }),
}

const HealthAnswer = Type.Object({
  object: objectName('provider.health'),
  from: Type.String({ format: 'date-time', description: 'The beginning of the first bucket.' }),
  to: Type.String({ format: 'date-time', description: 'The end of the last bucket.' }),
  granularity: Type.Enum(['hour', 'day'], { description: 'The length of a bucket: `hour` or `day`.' }),
  data: Type.Array(
    Type.Object({
      provider: Type.String({ description: 'The name of the provider.' }),
      ...figures,
      buckets: Type.Array(
        Type.Object({
          start: Type.String({ format: 'date-time', description: 'The beginning of the bucket.' }),
          ...figures,
        }),
        { description: 'Without gaps, oldest first.' },
      ),
      models: Type.Array(
        Type.Object({ model: Type.String({ description: 'The id of the model.' }), ...figures }),
        { description: 'Its models with calls, the most called first.' },
      ),
    }),
    { description: 'The providers that were called, by name.' },
  ),
})

interface Parts {
  readonly vendors: Usage['vendors']
  readonly clock: Clock
}

/** How providers did over time, for operators. */
export const adminProviderHealthRoutes = ({ vendors, clock }: Parts): Route[] => [
  defineRoute({
    method: 'GET',
    tag: 'Operator',
    access: ofGateway('gateway.read'),
    path: '/v1/admin/provider_health',
    summary: 'Read how providers did over time',
    query: HealthQuery,
    responses: { 200: { description: 'Every provider that was called, by name.', schema: HealthAnswer } },
    handle: async ({ query }) => {
      const { range } = parseRange(query, { usual: '30d', nowMs: clock.nowMs() })
      const granularity = chooseGranularity(query.granularity, range)
      const daysMax = granularity === 'hour' ? HOURS_RANGE_DAYS_MAX : DAYS_MAX
      if (range.toMs - range.fromMs > daysMax * DAY_MS)
        throw invalidValue('from', `The range may have at most ${daysMax} days, by ${granularity}.`)
      const found = await vendors.read({
        range,
        granularity,
        provider: query.provider ?? null,
        model: query.model ?? null,
      })
      return {
        object: 'provider.health',
        ...rangeToWire(wholeBuckets(range, granularity)),
        granularity,
        data: found.map(healthToWire),
      }
    },
  }),
]

function healthToWire(health: VendorHealth): Static<typeof HealthAnswer>['data'][number] {
  return {
    provider: health.provider,
    ...figuresToWire(health),
    buckets: health.buckets.map((bucket) => ({
      start: toTimestamp(bucket.range.fromMs),
      ...figuresToWire(bucket),
    })),
    models: health.models.map(({ model, ...figuresOfModel }) => ({
      model,
      ...figuresToWire(figuresOfModel),
    })),
  }
}

function figuresToWire({ calls, failures, limited, hours, hoursDown, ...measured }: HealthFigures) {
  return {
    calls,
    failures,
    limited,
    error_rate: calls === 0 ? null : round(failures / calls),
    uptime: hours === 0 ? null : round(1 - hoursDown / hours),
    latency: spreadToWire(measured.latency),
    ttft: spreadToWire(measured.firstToken),
    tokens_per_second: measured.tokensPerSecond,
    streamed_tokens: measured.writtenTokens,
  }
}

function round(share: number): number {
  return Math.round(share * 1e6) / 1e6
}

function spreadToWire(spread: HealthFigures['latency']) {
  return spread && { p50_ms: spread.p50, p95_ms: spread.p95 }
}
