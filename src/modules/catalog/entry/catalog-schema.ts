import { Type, type Static } from 'typebox'
import { CAPABILITIES, CATEGORIES, PRICE_UNITS, RESPONSE_FORMATS, type PriceTrait } from '../catalog-model.ts'

const NAME = { minLength: 1, maxLength: 256 } as const
const USD = { minimum: 0, maximum: 1_000_000 } as const
const COUNT = { minimum: 1, maximum: 1_000_000_000 } as const

const Name = Type.String(NAME)
const Count = Type.Integer(COUNT)
const Multiplier = Type.Number({ minimum: 0, maximum: 1000 })
const SECONDS = { minimum: 1, maximum: 3600 } as const

const name = (description: string) => Type.String({ ...NAME, description })
const amount = (description: string) => Type.Number({ ...USD, description })
const usd = (description: string) => Type.Optional(amount(description))
const day = (description: string) =>
  Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description }))
const moment = (description: string) =>
  Type.Optional(
    Type.String({ minLength: 10, maxLength: 24, description: `${description} A date or a time in UTC.` }),
  )
const batchFactor = (description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: 1, multipleOf: 0.000_001, description }))
const countOrNone = (description: string) => Type.Optional(Type.Union([Count, Type.Null()], { description }))
const values = (description: string) =>
  Type.Optional(Type.Array(Name, { minItems: 1, maxItems: 64, description }))
const duration = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000, description }))
const factors = (trait: string) =>
  Type.Optional(
    Type.Record(Name, Multiplier, { description: `Factors by ${trait}. Others have the factor 1.` }),
  )

const FACTORS: Readonly<Record<PriceTrait, string>> = {
  size: 'size',
  quality: 'quality',
  resolution: 'resolution',
  audio: 'sound: `on` or `off`',
  duration: 'duration in seconds',
}

/** Whether members that the gateway does not know are refused. */
type Strictness = { additionalProperties?: false }

/** The members of a price list. */
const createPrice = (strictness: Strictness, description = 'The price list.') =>
  Type.Object(
    {
      unit: Type.Enum([...PRICE_UNITS], {
        description: 'What `usd` is the price of. Tokens have prices by the million.',
      }),
      usd: usd('The price of one unit, in US dollars. For all units but `token`.'),
      input_image_usd: usd(
        'US dollars for one input image, for each output that is made of it. Free without it.',
      ),
      input_usd_per_1m: usd('US dollars for a million input tokens.'),
      cached_input_usd_per_1m: usd('The same for tokens read from the cache of the upstream.'),
      cache_write_usd_per_1m: usd('The same for tokens written to that cache.'),
      cache_write_1h_usd_per_1m: usd('The same for tokens written to be kept there for an hour.'),
      output_usd_per_1m: usd('US dollars for a million output tokens.'),
      audio_input_usd_per_1m: usd(
        'US dollars for a million input tokens of sound. Sound is refused without it.',
      ),
      audio_output_usd_per_1m: usd('US dollars for a million output tokens of sound.'),
      long_context: Type.Optional(
        Type.Array(
          Type.Object(
            {
              above_tokens: Type.Integer({
                ...COUNT,
                description: 'The rates apply when the input has more tokens than this.',
              }),
              input_usd_per_1m: amount('US dollars for a million input tokens.'),
              cached_input_usd_per_1m: usd('The same for tokens read from the cache of the upstream.'),
              cache_write_usd_per_1m: usd('The same for tokens written to that cache.'),
              cache_write_1h_usd_per_1m: usd('The same for tokens written to be kept there for an hour.'),
              output_usd_per_1m: amount('US dollars for a million output tokens.'),
            },
            strictness,
          ),
          {
            maxItems: 8,
            description: 'Rates of the whole request once its prompt is longer than `above_tokens`.',
          },
        ),
      ),
      multipliers: Type.Optional(
        Type.Object(
          {
            size: factors(FACTORS.size),
            quality: factors(FACTORS.quality),
            resolution: factors(FACTORS.resolution),
            audio: factors(FACTORS.audio),
            duration: factors(FACTORS.duration),
          },
          {
            ...strictness,
            description: 'How often the price counts for a value of a trait, such as a quality.',
          },
        ),
      ),
      batch_factor: batchFactor(
        'What a line of a batch costs that was handed to the batch API of a vendor: 0.5 is half of the price. What the vendor gives, unless told.',
      ),
      batch_single_factor: batchFactor(
        'The same for lines of batches that are asked one by one. 1 unless told.',
      ),
      listed: Type.Optional(
        Type.Boolean({ description: 'False shows `See pricing` in the list of models.' }),
      ),
    },
    { ...strictness, description },
  )

/** A list of the same form, for what a vendor charges. */
const createCost = (strictness: Strictness) =>
  createPrice(
    strictness,
    'What the provider charges for this route, in the unit of the price. Operators see it beside what was charged; accounts never do. Without it the cost is unknown, and not zero.',
  )

const createRoute = (strictness: Strictness) =>
  Type.Object(
    {
      provider: name('A vendor, or a provider of your own.'),
      model: name("The provider's name of the model."),
      priority: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1000,
          description: 'Lower ones are tried first. The position in the list unless told.',
        }),
      ),
      weight: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 1_000_000,
          description: 'The share among routes of the same priority. 1 unless told.',
        }),
      ),
      timeouts: Type.Optional(
        Type.Object(
          {
            connect_ms: duration('Milliseconds until a connection must be made.'),
            first_byte_ms: duration('Milliseconds until an answer must begin.'),
            idle_ms: duration('Milliseconds that may pass between two parts of an answer.'),
          },
          { ...strictness, description: 'Its own time limits.' },
        ),
      ),
      cost: Type.Optional(createCost(strictness)),
    },
    strictness,
  )

const createBounds = (strictness: Strictness) =>
  Type.Object(
    {
      images_max: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 10, description: 'Images per request.' }),
      ),
      sizes: values('The sizes that can be asked for.'),
      size_default: Type.Optional(name('The size of new images if a request names none.')),
      qualities: values('The qualities that can be asked for.'),
      quality_default: Type.Optional(name('The quality if a request names none.')),
      aspect_ratios: values('The aspect ratios that can be asked for.'),
      resolutions: values('The resolutions that can be asked for.'),
      resolution_default: Type.Optional(name('The resolution if a request names none.')),
      response_format_default: Type.Optional(
        Type.Enum([...RESPONSE_FORMATS], { description: 'How images are sent if a request does not say.' }),
      ),
      duration_seconds: Type.Optional(
        Type.Union(
          [
            Type.Array(Type.Integer(SECONDS), { minItems: 1, maxItems: 60 }),
            Type.Object(
              {
                min: Type.Integer({ ...SECONDS, description: 'The shortest.' }),
                max: Type.Integer({ ...SECONDS, description: 'The longest.' }),
              },
              strictness,
            ),
          ],
          { description: 'The durations that can be asked for: a list, or from `min` to `max`.' },
        ),
      ),
      duration_default_seconds: Type.Optional(
        Type.Integer({ ...SECONDS, description: 'The duration if a request names none.' }),
      ),
      dimensions: Type.Optional(
        Type.Array(Count, {
          minItems: 1,
          maxItems: 64,
          description: 'The lengths of an embedding that can be asked for.',
        }),
      ),
    },
    { ...strictness, description: 'The allowed parameters of media and embedding models.' },
  )

const createMembers = (strictness: Strictness) => ({
  name: name('The name of the model for people.'),
  vendor: name('The company that made the model.'),
  category: Type.Enum([...CATEGORIES], { description: 'What the model does.' }),
  released: day("The vendor's release date, such as `2026-08-01`."),
  retires: day('The day on which the vendor ends the model. From then on the successor answers.'),
  successor: Type.Optional(
    name(
      'The model to use instead. Without `shutdown_at` it answers, at its own price, if no configured provider sells this one.',
    ),
  ),
  available_from: moment('From when on the model is there.'),
  deprecated_from: moment('From when on answers say that the model will end.'),
  shutdown_at: moment(
    'When the model ends. After that it is not found, and the message names the successor.',
  ),
  successor_answers: Type.Optional(
    Type.Boolean({ description: 'Whether the successor answers after `shutdown_at`, at its own price.' }),
  ),
  context_tokens: countOrNone('The most tokens of input and output together.'),
  max_output_tokens: countOrNone('The most tokens of an answer.'),
  dimensions: countOrNone('The length of an embedding.'),
  capabilities: Type.Optional(
    Type.Array(Type.Enum([...CAPABILITIES]), {
      maxItems: CAPABILITIES.length,
      description: 'What the model can do beyond its category.',
    }),
  ),
  routes: Type.Array(createRoute(strictness), {
    minItems: 1,
    maxItems: 32,
    description: 'The providers that serve it, and their names of the model.',
  }),
  aliases: Type.Optional(Type.Array(Name, { maxItems: 64, description: 'Other ids that name this model.' })),
  delivery: Type.Optional(
    Type.Enum(['sync', 'async'], { description: 'Whether the result is in the answer or in a task.' }),
  ),
  bounds: Type.Optional(createBounds(strictness)),
  listed: Type.Optional(
    Type.Boolean({ description: 'False leaves it out of the list of models. It still works.' }),
  ),
})

const { routes: openRoutes, ...openMembers } = createMembers({})

/**
 * One entry of a catalog file. Objects are open, so that an operator's own fields do not break the file. Rules between fields (a
 * token price needs an input amount) are checked where the entry is read.
 */
export const CatalogEntry = Type.Object({
  id: Name,
  ...openMembers,
  price: createPrice({}),
  routes: openRoutes,
})
export type CatalogEntry = Static<typeof CatalogEntry>

const CLOSED: Strictness = { additionalProperties: false }

/** The same members for models that are added over the API, which refuses what it does not know: a misspelt price would be no price. */
export const MODEL_MEMBERS = createMembers(CLOSED)
export const PriceList = createPrice(CLOSED)
export type PriceList = Static<typeof PriceList>
/** What a route costs, as an operator gives it over the API. */
export const CostList = createCost(CLOSED)

/** Checked before the entries are merged, so that each problem can name its place in its own file. */
export const CatalogDocument = Type.Object({
  models: Type.Optional(Type.Array(Type.Object({ id: Name }), { maxItems: 10_000 })),
  service_models: Type.Optional(Type.Array(Type.Object({ id: Name }), { maxItems: 10_000 })),
})
