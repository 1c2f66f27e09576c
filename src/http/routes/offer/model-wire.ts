import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import {
  CostList,
  describeEntry,
  MODEL_MEMBERS,
  modelAt,
  PriceList,
  type TimedModel,
} from '../../../modules/catalog/catalog.ts'
import type { ModelInput, ModelPatch, OfferedModel, OfferedVisibility } from '../../../modules/offer/offer.ts'
import { isSelfHosted, VENDORS } from '../../../providers/vendors.ts'
import { orNull } from '../../../wires/nullable.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { objectName } from '../../../wires/usual-members.ts'

const NAMED_MAX = 1_000

const Visibility = Type.Object(
  {
    accounts: Type.Optional(
      Type.Array(Type.String({ format: 'uuid' }), { maxItems: NAMED_MAX, description: 'Ids of accounts.' }),
    ),
    projects: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), { maxItems: NAMED_MAX, description: 'Ids of projects.' }),
    ),
  },
  { additionalProperties: false },
)
const visibility = orNull(
  Visibility,
  'Who sees the model and can use it: these accounts, and these projects. Null: everybody. For all others there is no such model.',
)

export const Reason = Type.Optional(
  Type.String({
    maxLength: 500,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    description: 'Why, for the audit log.',
  }),
)

/** What routes cost from the moment of a price list on. */
export const Costs = Type.Array(
  Type.Object(
    {
      provider: Type.String({ minLength: 1, maxLength: 256, description: 'The provider of a route.' }),
      model: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 256,
          description: "The provider's name of the model. All of its routes without it.",
        }),
      ),
      cost: CostList,
    },
    { additionalProperties: false },
  ),
  {
    maxItems: 32,
    description:
      'What providers charge for it, by route. A route that is not named costs what its configuration says; nothing said is unknown, and not zero.',
  },
)

/** A vendor whose servers run anywhere. */
const OWN_SERVER = VENDORS.map(({ id }) => id).find(isSelfHosted) ?? ''

const EXAMPLE = {
  id: 'our-llama',
  name: 'Our Llama',
  vendor: 'Meta',
  category: 'llm',
  context_tokens: 131_072,
  capabilities: ['chat', 'tool_use'],
  price: { unit: 'token', input_usd_per_1m: 0.1, output_usd_per_1m: 0.3 },
  routes: [{ provider: OWN_SERVER, model: 'meta-llama/Llama-3.3-70B-Instruct' }],
}

export const ModelCreateBody = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 200, description: 'The value that clients send as `model`.' }),
    ...MODEL_MEMBERS,
    price: PriceList,
    visibility: Type.Optional(visibility),
    reason: Reason,
  },
  { additionalProperties: false, examples: [EXAMPLE] },
)

const { name, vendor, category, routes, ...optional } = MODEL_MEMBERS

export const ModelChangeBody = Type.Object(
  {
    name: Type.Optional(name),
    vendor: Type.Optional(vendor),
    category: Type.Optional(category),
    routes: Type.Optional(routes),
    released: removable(optional.released),
    retires: removable(optional.retires),
    successor: removable(optional.successor),
    available_from: removable(optional.available_from),
    deprecated_from: removable(optional.deprecated_from),
    shutdown_at: removable(optional.shutdown_at),
    successor_answers: removable(optional.successor_answers),
    context_tokens: removable(optional.context_tokens),
    max_output_tokens: removable(optional.max_output_tokens),
    dimensions: removable(optional.dimensions),
    capabilities: removable(optional.capabilities),
    aliases: removable(optional.aliases),
    delivery: removable(optional.delivery),
    bounds: removable(optional.bounds),
    listed: removable(optional.listed),
    price: Type.Optional(PriceList),
    visibility: Type.Optional(visibility),
    reason: Reason,
  },
  { additionalProperties: false, minProperties: 1, examples: [{ aliases: ['llama'], listed: false }] },
)

/** Null removes the member. */
function removable<Schema extends Parameters<typeof orNull>[0]>(schema: Schema) {
  return Type.Optional(orNull(schema, 'The new value; null removes it.'))
}

const { bounds: _bounds, ...shown } = MODEL_MEMBERS

export const ModelAnswer = Type.Object(
  {
    id: Type.String({ description: 'The value that clients send as `model`.' }),
    object: objectName('model_configuration'),
    source: Type.Enum(['file', 'database'], {
      description:
        '`file`: the built-in catalog or the catalog file, where alone it can be changed. `database`: this API.',
    }),
    ...shown,
    bounds: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'The allowed parameters of media and embedding models.',
      }),
    ),
    price: PriceList,
    price_version: orNull(Type.String(), 'The version of the price list that is charged now.'),
    next_price_from: orNull(
      Type.String({ format: 'date-time' }),
      'The moment from which another price list is charged. Null: none is known.',
    ),
    visibility,
    created_at: orNull(Type.String({ format: 'date-time' }), 'When it was added over this API.'),
    updated_at: orNull(Type.String({ format: 'date-time' }), 'When it was last changed over this API.'),
  },
  { title: 'ModelConfiguration' },
)

export function modelToWire(
  timed: TimedModel,
  offered: OfferedModel | undefined,
  nowMs: number,
): Record<string, unknown> {
  const model = modelAt(timed, nowMs)
  const next = timed.later.find(({ fromMs }) => fromMs > nowMs)
  return {
    ...describeEntry(model),
    object: 'model_configuration',
    source: model.isOffered === true ? 'database' : 'file',
    price_version: model.priceVersion ?? null,
    next_price_from: next === undefined ? null : toTimestamp(next.fromMs),
    visibility: visibilityToWire(offered?.visibility ?? null),
    created_at: offered === undefined ? null : toTimestamp(offered.createdAtMs),
    updated_at: offered === undefined ? null : toTimestamp(offered.updatedAtMs),
  }
}

export function visibilityToWire(seen: OfferedVisibility | null) {
  if (seen === null) return null
  return { accounts: seen.accountIds, projects: seen.projectIds.map((id) => wireId('project', id)) }
}

export function readModelInput(body: Static<typeof ModelCreateBody>, authorKeyId: string): ModelInput {
  const { id, price, visibility: seen = null, reason = null, ...entry } = body
  return { id, entry, price, visibility: readVisibility(seen), authorKeyId, reason }
}

export function readModelPatch(body: Static<typeof ModelChangeBody>, authorKeyId: string): ModelPatch {
  const { price, visibility: seen, reason = null, ...entry } = body
  return {
    entry,
    price,
    visibility: seen === undefined ? undefined : readVisibility(seen),
    authorKeyId,
    reason,
  }
}

export function readVisibility(seen: Static<typeof Visibility> | null): OfferedVisibility | null {
  if (seen === null) return null
  const projectIds = (seen.projects ?? []).map((text, index) => {
    const id = parseWireId('project', text)
    if (id === null) throw invalidValue(`visibility.projects.${index}`, 'This is not the id of a project.')
    return id
  })
  const accountIds = (seen.accounts ?? []).map((id) => id.toLowerCase())
  return { accountIds: [...new Set(accountIds)], projectIds: [...new Set(projectIds)] }
}
