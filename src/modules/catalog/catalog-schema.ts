import { Type, type Static } from 'typebox'
import { CAPABILITIES, CATEGORIES, PRICE_TRAITS, PRICE_UNITS, RESPONSE_FORMATS } from './catalog-model.ts'

/**
 * One entry of a catalog file. Objects are open, so that an operator's own fields do not break the file. Rules between fields (a
 * token price needs an input amount) are checked where the entry is read.
 */
const Count = Type.Integer({ minimum: 1, maximum: 1_000_000_000 })
const CountOrNone = Type.Optional(Type.Union([Count, Type.Null()]))
const Name = Type.String({ minLength: 1, maxLength: 256 })
const Day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })
const Usd = Type.Number({ minimum: 0, maximum: 1_000_000 })
const DurationMs = Type.Integer({ minimum: 1, maximum: 3_600_000 })

const Route = Type.Object({
  provider: Name,
  model: Name,
  priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
  weight: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 })),
  timeouts: Type.Optional(
    Type.Object({
      connect_ms: Type.Optional(DurationMs),
      first_byte_ms: Type.Optional(DurationMs),
      idle_ms: Type.Optional(DurationMs),
    }),
  ),
})

const LongContext = Type.Object({
  above_tokens: Count,
  input_usd_per_1m: Usd,
  cached_input_usd_per_1m: Type.Optional(Usd),
  cache_write_usd_per_1m: Type.Optional(Usd),
  cache_write_1h_usd_per_1m: Type.Optional(Usd),
  output_usd_per_1m: Usd,
})

const Multiplier = Type.Number({ minimum: 0, maximum: 1000 })
const Multipliers = Type.Partial(Type.Record(Type.Enum([...PRICE_TRAITS]), Type.Record(Name, Multiplier)))

const Values = Type.Optional(Type.Array(Name, { minItems: 1, maxItems: 64 }))
const Seconds = Type.Integer({ minimum: 1, maximum: 3600 })
const Bounds = Type.Object({
  images_max: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
  sizes: Values,
  size_default: Type.Optional(Name),
  qualities: Values,
  quality_default: Type.Optional(Name),
  aspect_ratios: Values,
  resolutions: Values,
  resolution_default: Type.Optional(Name),
  response_format_default: Type.Optional(Type.Enum([...RESPONSE_FORMATS])),
  duration_seconds: Type.Optional(
    Type.Union([
      Type.Array(Seconds, { minItems: 1, maxItems: 60 }),
      Type.Object({ min: Seconds, max: Seconds }),
    ]),
  ),
  duration_default_seconds: Type.Optional(Seconds),
  dimensions: Type.Optional(Type.Array(Count, { minItems: 1, maxItems: 64 })),
})

const Price = Type.Object({
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
  long_context: Type.Optional(Type.Array(LongContext, { maxItems: 8 })),
  multipliers: Type.Optional(Multipliers),
  listed: Type.Optional(Type.Boolean()),
})

export const CatalogEntry = Type.Object({
  id: Name,
  name: Name,
  vendor: Name,
  category: Type.Enum([...CATEGORIES]),
  released: Type.Optional(Day),
  retires: Type.Optional(Day),
  successor: Type.Optional(Name),
  context_tokens: CountOrNone,
  max_output_tokens: CountOrNone,
  dimensions: CountOrNone,
  capabilities: Type.Optional(Type.Array(Type.Enum([...CAPABILITIES]), { maxItems: CAPABILITIES.length })),
  price: Price,
  routes: Type.Array(Route, { minItems: 1, maxItems: 32 }),
  aliases: Type.Optional(Type.Array(Name, { maxItems: 64 })),
  delivery: Type.Optional(Type.Enum(['sync', 'async'])),
  bounds: Type.Optional(Bounds),
  listed: Type.Optional(Type.Boolean()),
})
export type CatalogEntry = Static<typeof CatalogEntry>

/** Checked before the entries are merged, so that each problem can name its place in its own file. */
export const CatalogDocument = Type.Object({
  models: Type.Optional(Type.Array(Type.Object({ id: Name }), { maxItems: 10_000 })),
  service_models: Type.Optional(Type.Array(Type.Object({ id: Name }), { maxItems: 10_000 })),
})
