import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { formatUsd, usdFromNanoUsd } from '../../../kernel/money.ts'
import { orNull } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import {
  CAPABILITIES,
  CATEGORIES,
  ENDPOINT_OF_CATEGORY,
  PRICE_UNITS,
  type CatalogModel,
  type ModelPrice,
  type TokenRates,
  type UnitPrice,
} from '../catalog-model.ts'
import { endOf } from '../lookup/life-cycle.ts'

const usd = (description: string) => Type.Number({ minimum: 0, description })

const PriceCard = Type.Object(
  {
    unit: Type.Enum([...PRICE_UNITS], { description: 'The unit that `usd` is the price of.' }),
    usd: Type.Optional(usd('The price of one unit, in US dollars.')),
    input_image_usd: Type.Optional(
      usd(
        'US dollars for one input image, or mask, for each image or video that is made. Absent where it is free.',
      ),
    ),
    input_usd_per_1m: Type.Optional(usd('US dollars for a million input tokens.')),
    cached_input_usd_per_1m: Type.Optional(
      usd('US dollars for a million input tokens read from the cache of the upstream.'),
    ),
    cache_write_usd_per_1m: Type.Optional(
      usd('US dollars for a million input tokens written to the cache of the upstream.'),
    ),
    cache_write_1h_usd_per_1m: Type.Optional(
      usd('US dollars for a million input tokens written to be kept there for an hour.'),
    ),
    output_usd_per_1m: Type.Optional(usd('US dollars for a million output tokens.')),
    audio_input_usd_per_1m: Type.Optional(
      usd('US dollars for a million input tokens of sound. Absent where sound is not taken.'),
    ),
    audio_output_usd_per_1m: Type.Optional(
      usd('US dollars for a million output tokens of sound. Absent where no answer is spoken.'),
    ),
    batch_factor: Type.Optional(
      Type.Number({
        description:
          'What a line of a batch costs that is handed to the batch API of a vendor, as a part of the price. Absent: what the vendor gives.',
      }),
    ),
    batch_single_factor: Type.Optional(
      Type.Number({ description: 'The same for lines of batches that are asked one by one. Absent: 1.' }),
    ),
    multipliers: Type.Optional(
      Type.Record(Type.String(), Type.Record(Type.String(), Type.Number()), {
        description: 'How often the price counts for a value of a trait, such as a quality.',
      }),
    ),
    long_context: Type.Optional(
      Type.Array(
        Type.Object({
          above_tokens: Type.Integer({
            description: 'The prices apply when the input has more tokens than this.',
          }),
          input_usd_per_1m: usd('US dollars for a million input tokens.'),
          cached_input_usd_per_1m: usd(
            'US dollars for a million input tokens read from the cache of the upstream.',
          ),
          cache_write_usd_per_1m: Type.Optional(
            usd('US dollars for a million input tokens written to the cache of the upstream.'),
          ),
          cache_write_1h_usd_per_1m: Type.Optional(
            usd('US dollars for a million input tokens written to be kept there for an hour.'),
          ),
          output_usd_per_1m: usd('US dollars for a million output tokens.'),
        }),
        { description: 'Rates of the whole request once its prompt is longer than this.' },
      ),
    ),
  },
  { description: 'Dollars for a unit, or for a million tokens.' },
)

/** A model as clients see it. */
export const ModelCard = Type.Object(
  {
    id: Type.String({ description: 'The value to send as `model`.' }),
    object: objectName('model'),
    created: Type.Integer({ description: 'Unix seconds.' }),
    owned_by: Type.String({ description: 'Who made the model.' }),
    display_name: Type.String({ description: 'The name of the model for people.' }),
    vendor: Type.String({ description: 'The company that made the model.' }),
    category: Type.Enum([...CATEGORIES], {
      description: 'What the model does: `llm`, `image`, `video`, `tts`, `stt` and so on.',
    }),
    model_type: Type.Enum([...CATEGORIES], { description: 'The kind of model within its category.' }),
    pricing: Type.String({ description: '`$<in> in / $<out> out per 1M tokens` or `See pricing`.' }),
    pricing_kind: Type.Enum(
      PRICE_UNITS.map((unit) => `per_${unit}` as const),
      { description: 'What is billed: tokens, pictures, seconds, characters.' },
    ),
    context: Type.String({ description: '`<n>K`, `<n>M`, or `-` where it does not apply.' }),
    capabilities: Type.Array(Type.Enum([...CAPABILITIES]), {
      description: 'What the model can do beyond its category.',
    }),
    endpoint: Type.String({ description: 'The route that serves this model.' }),
    status: Type.Enum(['active'], { description: 'The state it is in.' }),
    is_ready: Type.Boolean({ description: 'Whether a request for it can be served now.' }),
    not_ready_reason: orNull(Type.String(), 'Why it cannot be served now. `null` when it can.'),
    source: Type.Enum(['platform', 'dedicated'], {
      description: 'Whether everybody shares the model (`platform`) or it is a deployment (`dedicated`).',
    }),
    provider: Type.String({ description: 'The upstream a request would be sent to first.' }),
    price: PriceCard,
    context_tokens: orNull(Type.Integer(), 'The most tokens of input and output together.'),
    max_output_tokens: orNull(Type.Integer(), 'The most tokens of an answer.'),
    dimensions: orNull(Type.Integer(), 'The length of the vectors.'),
    durations: orNull(
      Type.Object({
        min_seconds: Type.Number({ description: 'The shortest.' }),
        max_seconds: Type.Number({ description: 'The longest.' }),
        allowed_seconds: orNull(Type.Array(Type.Number()), 'The only ones. `null`: all between.'),
        default_seconds: Type.Number({ description: 'For a request that names none.' }),
      }),
      'How long its videos or its music may be. `null` where it does not apply.',
    ),
    aliases: Type.Array(Type.String(), { description: 'Other ids that name this model.' }),
    shutdown_date: orNull(
      Type.String({ format: 'date-time' }),
      'When the model ends. `null` if that is not known.',
    ),
    deprecated_from: orNull(
      Type.String({ format: 'date-time' }),
      'From when on answers say that the model will end. `null` if that is not known.',
    ),
    successor: orNull(Type.String(), 'The model to use instead of one that ends. `null` if none is named.'),
  },
  { title: 'Model' },
)
export type ModelCard = Static<typeof ModelCard>

/** What decides whether a model can be served now. */
export interface ModelReadiness {
  readonly isProviderConfigured: (providerId: string) => boolean
  /** Whether the sandbox replaces providers that are not configured. */
  readonly isSandboxAllowed: boolean
}

export function toModelCard(model: CatalogModel, readiness: ModelReadiness): ModelCard {
  return {
    id: model.id,
    object: 'model',
    created: Math.floor(model.createdAt.getTime() / 1000),
    owned_by: model.vendor.toLowerCase().replaceAll(' ', '-'),
    display_name: model.displayName,
    vendor: model.vendor,
    category: model.category,
    model_type: model.category,
    pricing: formatPricing(model),
    pricing_kind: `per_${model.price.unit}`,
    context: formatContext(model.contextTokens),
    capabilities: [...model.capabilities],
    endpoint: ENDPOINT_OF_CATEGORY[model.category],
    status: 'active',
    ...describeReadiness(model, readiness),
    source: model.source ?? 'platform',
    price: toPriceCard(model.price),
    context_tokens: model.contextTokens,
    max_output_tokens: model.maxOutputTokens,
    dimensions: model.dimensions,
    durations: describeDurations(model),
    aliases: [...model.aliases],
    shutdown_date: momentOf(endOf(model)),
    deprecated_from: momentOf(model.lifeCycle?.deprecatedFromMs ?? null),
    successor: model.successor ?? null,
  }
}

function describeDurations({ bounds: { durations } }: CatalogModel): ModelCard['durations'] {
  if (durations === null) return null
  return {
    min_seconds: durations.minSeconds,
    max_seconds: durations.maxSeconds,
    allowed_seconds: durations.allowedSeconds === null ? null : [...durations.allowedSeconds],
    default_seconds: durations.defaultSeconds,
  }
}

function momentOf(epochMs: number | null): string | null {
  return epochMs === null ? null : toTimestamp(epochMs)
}

function formatPricing({ price, isPriceListed }: CatalogModel): string {
  if (price.unit !== 'token' || !isPriceListed) return 'See pricing'
  return `$${formatUsd(price.inputNanoUsdPer1m)} in / $${formatUsd(price.outputNanoUsdPer1m)} out per 1M tokens`
}

/** Formats in units of 1000 or 1,000,000, rounded down: 131072 becomes `131K`. */
function formatContext(tokens: number | null): string {
  if (tokens === null) return '-'
  if (tokens >= 1_000_000) return `${Math.floor(tokens / 1_000_000)}M`
  return `${Math.max(1, Math.floor(tokens / 1000))}K`
}

function describeReadiness(
  { routes }: CatalogModel,
  { isProviderConfigured, isSandboxAllowed }: ModelReadiness,
): Pick<ModelCard, 'is_ready' | 'not_ready_reason' | 'provider'> {
  const configured = routes.find(({ provider }) => isProviderConfigured(provider))
  if (configured) return { is_ready: true, not_ready_reason: null, provider: configured.provider }
  if (isSandboxAllowed) return { is_ready: true, not_ready_reason: null, provider: 'sandbox' }
  const providers = [...new Set(routes.map(({ provider }) => provider))]
  return {
    is_ready: false,
    not_ready_reason: `No provider of this model is configured (${providers.join(', ')}).`,
    provider: providers[0] ?? '',
  }
}

export function toPriceCard(price: ModelPrice): ModelCard['price'] {
  if (price.unit !== 'token') return toUnitCard(price)
  const longContext = price.longContext.map((rates) => ({
    above_tokens: rates.aboveTokens,
    ...toRateCard(rates),
  }))
  return {
    unit: 'token',
    ...toRateCard(price),
    ...(price.audioInputNanoUsdPer1m === undefined
      ? {}
      : { audio_input_usd_per_1m: usdFromNanoUsd(price.audioInputNanoUsdPer1m) }),
    ...(price.audioOutputNanoUsdPer1m === undefined
      ? {}
      : { audio_output_usd_per_1m: usdFromNanoUsd(price.audioOutputNanoUsdPer1m) }),
    ...(longContext.length > 0 ? { long_context: longContext } : {}),
    ...toBatchCard(price),
  }
}

function toBatchCard({ batchMillionths, batchSingleMillionths }: ModelPrice) {
  return {
    ...(batchMillionths === undefined ? {} : { batch_factor: Number(batchMillionths) / MILLION }),
    ...(batchSingleMillionths === undefined
      ? {}
      : { batch_single_factor: Number(batchSingleMillionths) / MILLION }),
  }
}

const MILLION = 1_000_000

function toUnitCard(price: UnitPrice): ModelCard['price'] {
  const { unit, nanoUsdPerUnit, nanoUsdPerInputImage, multipliers = {} } = price
  const shown = Object.entries(multipliers).map(([trait, factors]) => [
    trait,
    Object.fromEntries([...factors].map(([value, millionths]) => [value, Number(millionths) / MILLION])),
  ])
  return {
    unit,
    usd: usdFromNanoUsd(nanoUsdPerUnit),
    ...(nanoUsdPerInputImage === undefined ? {} : { input_image_usd: usdFromNanoUsd(nanoUsdPerInputImage) }),
    ...(shown.length > 0 ? { multipliers: Object.fromEntries(shown) } : {}),
    ...toBatchCard(price),
  }
}

function toRateCard(rates: TokenRates) {
  return {
    input_usd_per_1m: usdFromNanoUsd(rates.inputNanoUsdPer1m),
    cached_input_usd_per_1m: usdFromNanoUsd(rates.cachedInputNanoUsdPer1m),
    ...(rates.cacheWriteNanoUsdPer1m === undefined
      ? {}
      : { cache_write_usd_per_1m: usdFromNanoUsd(rates.cacheWriteNanoUsdPer1m) }),
    ...(rates.cacheWriteHourNanoUsdPer1m === undefined
      ? {}
      : { cache_write_1h_usd_per_1m: usdFromNanoUsd(rates.cacheWriteHourNanoUsdPer1m) }),
    output_usd_per_1m: usdFromNanoUsd(rates.outputNanoUsdPer1m),
  }
}
