import { Type, type Static } from 'typebox'
import { formatUsd, usdFromNanoUsd } from '../../kernel/money.ts'
import {
  CAPABILITIES,
  CATEGORIES,
  ENDPOINT_OF_CATEGORY,
  PRICE_UNITS,
  type CatalogModel,
  type ModelPrice,
  type TokenRates,
  type UnitPrice,
} from './catalog-model.ts'

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const Usd = Type.Number({ minimum: 0 })

const PriceCard = Type.Object(
  {
    unit: Type.Enum([...PRICE_UNITS]),
    usd: Type.Optional(Usd),
    input_image_usd: Type.Optional(Usd),
    input_usd_per_1m: Type.Optional(Usd),
    cached_input_usd_per_1m: Type.Optional(Usd),
    cache_write_usd_per_1m: Type.Optional(Usd),
    cache_write_1h_usd_per_1m: Type.Optional(Usd),
    output_usd_per_1m: Type.Optional(Usd),
    audio_input_usd_per_1m: Type.Optional(Usd),
    audio_output_usd_per_1m: Type.Optional(Usd),
    multipliers: Type.Optional(
      Type.Record(Type.String(), Type.Record(Type.String(), Type.Number()), {
        description: 'How often the price counts for a value of a trait, such as a quality.',
      }),
    ),
    long_context: Type.Optional(
      Type.Array(
        Type.Object({
          above_tokens: Type.Integer(),
          input_usd_per_1m: Usd,
          cached_input_usd_per_1m: Usd,
          cache_write_usd_per_1m: Type.Optional(Usd),
          cache_write_1h_usd_per_1m: Type.Optional(Usd),
          output_usd_per_1m: Usd,
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
    object: Type.Literal('model'),
    created: Type.Integer({ description: 'Unix seconds.' }),
    owned_by: Type.String(),
    display_name: Type.String(),
    vendor: Type.String(),
    category: Type.Enum([...CATEGORIES]),
    model_type: Type.Enum([...CATEGORIES]),
    pricing: Type.String({ description: '`$<in> in / $<out> out per 1M tokens` or `See pricing`.' }),
    pricing_kind: Type.Enum(PRICE_UNITS.map((unit) => `per_${unit}` as const)),
    context: Type.String({ description: '`<n>K`, `<n>M`, or `-` where it does not apply.' }),
    capabilities: Type.Array(Type.Enum([...CAPABILITIES])),
    endpoint: Type.String({ description: 'The route that serves this model.' }),
    status: Type.Enum(['active']),
    is_ready: Type.Boolean(),
    not_ready_reason: nullable(Type.String()),
    source: Type.Enum(['platform', 'dedicated']),
    provider: Type.String({ description: 'The upstream a request would be sent to first.' }),
    price: PriceCard,
    context_tokens: nullable(Type.Integer()),
    max_output_tokens: nullable(Type.Integer()),
    dimensions: nullable(Type.Integer()),
    aliases: Type.Array(Type.String()),
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
    aliases: [...model.aliases],
  }
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

function toPriceCard(price: ModelPrice): ModelCard['price'] {
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
  }
}

function toUnitCard({
  unit,
  nanoUsdPerUnit,
  nanoUsdPerInputImage,
  multipliers = {},
}: UnitPrice): ModelCard['price'] {
  const shown = Object.entries(multipliers).map(([trait, factors]) => [
    trait,
    Object.fromEntries([...factors].map(([value, millionths]) => [value, Number(millionths) / 1_000_000])),
  ])
  return {
    unit,
    usd: usdFromNanoUsd(nanoUsdPerUnit),
    ...(nanoUsdPerInputImage === undefined ? {} : { input_image_usd: usdFromNanoUsd(nanoUsdPerInputImage) }),
    ...(shown.length > 0 ? { multipliers: Object.fromEntries(shown) } : {}),
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
