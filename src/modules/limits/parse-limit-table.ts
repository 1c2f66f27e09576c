import { Type, type Static, type TProperties } from 'typebox'
import { Value } from 'typebox/value'
import { nanoUsdFromUsd } from '../../kernel/money.ts'
import { orNull } from '../../wires/nullable.ts'
import { DEFAULT_LIMITS, DEFAULT_QUOTAS, type LimitTable, type Tier } from './limit-table.ts'

const strict = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })
const whole = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum })

// Limited so that a level in sixty-thousandths of a unit fits its column.
const UNITS_MAX = 100_000_000_000_000
const USD_MAX = 100_000
const BYTES_MAX = 1_000_000_000_000_000

const quota = () => Type.Optional(orNull(whole(1, BYTES_MAX)))

const TierEntry = strict({
  name: Type.String({ pattern: '^[a-z0-9_]{1,40}$' }),
  balance_usd: Type.Number({ minimum: 0, maximum: 1_000_000_000 }),
  requests_per_minute: orNull(whole(1, UNITS_MAX)),
  tokens_per_minute: orNull(whole(1, UNITS_MAX)),
  concurrent_requests: orNull(whole(1, 1_000_000)),
  spend_usd_per_minute: orNull(Type.Number({ minimum: 0.01, maximum: USD_MAX })),
  media_bytes_max: quota(),
  dataset_bytes_max: quota(),
  task_bytes_max: quota(),
  stored_response_bytes_max: quota(),
  response_bytes_max: quota(),
  file_bytes_max: quota(),
})

const LimitsEntry = strict({
  tiers: Type.Optional(Type.Array(TierEntry, { minItems: 1, maxItems: 100 })),
  categories: Type.Optional(Type.Record(Type.String(), Type.Number({ exclusiveMinimum: 0, maximum: 1 }))),
  local_models: Type.Optional(
    strict({
      slots: Type.Optional(Type.Record(Type.String(), whole(1, 100_000))),
      queue_max: Type.Optional(whole(1, 10_000)),
      wait_ms_max: Type.Optional(whole(1_000, 3_600_000)),
    }),
  ),
  strangers: Type.Optional(
    strict({
      failures_per_minute: Type.Optional(whole(1, 1_000_000)),
      delay_seconds_max: Type.Optional(whole(1, 86_400)),
      requests_per_minute: Type.Optional(whole(1, 10_000_000)),
    }),
  ),
})

/** Merges the operator's table over the default. Throws a `RangeError` that says what to change. */
export function parseLimitTable(text: string): LimitTable {
  const entry = parseEntry(text)
  const { local_models: local = {}, strangers = {} } = entry
  const defaults = DEFAULT_LIMITS
  return {
    tiers: entry.tiers === undefined ? defaults.tiers : orderTiers(entry.tiers.map(toTier)),
    categories: new Map([...defaults.categories, ...Object.entries(entry.categories ?? {})]),
    localModels: {
      slots: new Map(Object.entries(local.slots ?? {})),
      waitersMax: local.queue_max ?? defaults.localModels.waitersMax,
      waitMsMax: local.wait_ms_max ?? defaults.localModels.waitMsMax,
    },
    strangers: {
      failuresPerMinute: strangers.failures_per_minute ?? defaults.strangers.failuresPerMinute,
      delaySecondsMax: strangers.delay_seconds_max ?? defaults.strangers.delaySecondsMax,
      requestsPerMinute: strangers.requests_per_minute ?? defaults.strangers.requestsPerMinute,
    },
  }
}

function parseEntry(text: string): Static<typeof LimitsEntry> {
  const value = parseJson(text)
  if (Value.Check(LimitsEntry, value)) return value
  const [error] = Value.Errors(LimitsEntry, value)
  const place = error?.instancePath.slice(1).replaceAll('/', '.') || 'limits'
  throw new RangeError(`a table as in docs/limits.md; ${place} ${error?.message ?? 'is wrong'}`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RangeError('a JSON object as in docs/limits.md')
  }
}

function toTier(entry: Static<typeof TierEntry>): Tier {
  const spendUsd = entry.spend_usd_per_minute
  return {
    name: entry.name,
    balanceNanoUsd: nanoUsdFromUsd(entry.balance_usd),
    requestsPerMinute: entry.requests_per_minute,
    tokensPerMinute: entry.tokens_per_minute,
    concurrentRequests: entry.concurrent_requests,
    spendNanoUsdPerMinute: spendUsd === null ? null : nanoUsdFromUsd(spendUsd),
    storedBytesMax: {
      media: orDefault(entry.media_bytes_max, DEFAULT_QUOTAS.media),
      dataset: orDefault(entry.dataset_bytes_max, DEFAULT_QUOTAS.dataset),
      task: orDefault(entry.task_bytes_max, DEFAULT_QUOTAS.task),
      stored_response: orDefault(entry.stored_response_bytes_max, DEFAULT_QUOTAS.stored_response),
      response: orDefault(entry.response_bytes_max, DEFAULT_QUOTAS.response),
      file: orDefault(entry.file_bytes_max, DEFAULT_QUOTAS.file),
    },
  }
}

/** Null is a value: it means no limit. */
function orDefault(given: number | null | undefined, standard: number | null): number | null {
  return given === undefined ? standard : given
}

function orderTiers(tiers: readonly Tier[]): Tier[] {
  const ordered = tiers.toSorted((a, b) => (a.balanceNanoUsd < b.balanceNanoUsd ? -1 : 1))
  if (ordered[0]?.balanceNanoUsd !== 0n) throw new RangeError('a table whose first tier has balance_usd 0')
  if (new Set(tiers.map(({ balanceNanoUsd }) => balanceNanoUsd)).size < tiers.length)
    throw new RangeError('a table in which no two tiers have the same balance_usd')
  return ordered
}
