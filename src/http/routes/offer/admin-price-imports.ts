import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import {
  PRICE_LIST_FORMATS,
  type PriceDifference,
  type PriceImports,
  type PriceSource,
} from '../../../modules/price-import/price-import.ts'
import { VENDORS } from '../../../providers/vendors.ts'
import { orNull } from '../../../wires/nullable.ts'
import { ModelId, objectName } from '../../../wires/usual-members.ts'
import { ofGateway } from '../../access.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { defineRoute, type Route } from '../../route.ts'
import { Reason } from './model-wire.ts'

const SOURCE = {
  format: Type.Enum([...PRICE_LIST_FORMATS], {
    description:
      'The form of the list: `model_prices_and_context_window.json` of LiteLLM, or `api.json` of models.dev.',
  }),
  text: Type.Optional(
    Type.String({ maxLength: 8 * 1024 * 1024, description: 'The list itself. Either this or `url`.' }),
  ),
  url: Type.Optional(
    Type.String({ format: 'uri', maxLength: 2048, description: 'Where the gateway reads the list.' }),
  ),
}
const LIST = JSON.stringify({
  'a-model': {
    litellm_provider: VENDORS[0]?.id,
    mode: 'chat',
    input_cost_per_token: 3e-6,
    output_cost_per_token: 1.5e-5,
  },
})
const CompareBody = Type.Object(SOURCE, {
  additionalProperties: false,
  examples: [{ format: 'litellm', text: LIST }],
})
const ApplyBody = Type.Object(
  {
    ...SOURCE,
    digest: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description:
        'That of the comparison that you looked at. If the list is another one by now, nothing is changed.',
    }),
    models: Type.Optional(
      orNull(
        Type.Array(ModelId, { minItems: 1, maxItems: 500 }),
        'The models of the differences that are taken: changed ones get the price, new ones are added. Null or absent: all changed ones that are not suspicious.',
      ),
    ),
    effective_from: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'The moment from which changed prices are charged. At once without it.',
      }),
    ),
    reason: Reason,
  },
  {
    additionalProperties: false,
    examples: [
      {
        format: 'litellm',
        url: 'https://prices.example.com/list.json',
        digest: '0'.repeat(64),
        models: ['a-model'],
      },
    ],
  },
)

const Problem = Type.Object({
  key: Type.String({ description: 'How the list names the entry.' }),
  reason: Type.String({ description: 'Why it is not used.' }),
})
const Difference = Type.Object(
  {
    status: Type.Enum(['changed', 'new', 'gone'], {
      description:
        '`changed`: a model of the gateway has another price in the list. `new`: a configured provider sells it, and the gateway has no such model. `gone`: the list has models of this provider, and not this one.',
    }),
    model: ModelId,
    provider: Type.String({ description: 'The provider whose price it is.' }),
    listed_as: orNull(Type.String(), 'How the list names it. Null if it is gone.'),
    price: orNull(
      Type.Record(Type.String(), Type.Unknown()),
      'The price as it would be. Null if it is gone.',
    ),
    changes: Type.Array(
      Type.Object({
        field: Type.String({ description: 'The name of the amount.' }),
        from: orNull(Type.Number(), 'Dollars now. Null: there is no such amount.'),
        to: Type.Number({ description: 'Dollars in the list.' }),
      }),
      { description: 'The amounts that differ.' },
    ),
    is_suspicious: Type.Boolean({
      description: 'Whether an amount changes more than fivefold. Such a price is only taken if it is named.',
    }),
  },
  { title: 'PriceDifference' },
)
const ImportAnswer = Type.Object(
  {
    object: objectName('price_import'),
    digest: Type.String({ description: 'Names this content of the list.' }),
    differences: Type.Array(Difference, { description: 'What differs. Nothing is changed yet.' }),
    problems: Type.Array(Problem, { description: 'Entries that cannot be believed. They are never used.' }),
    same_count: Type.Integer({ description: 'How many models have the price of the list.' }),
  },
  { title: 'PriceImport' },
)
const AppliedAnswer = Type.Object({
  object: objectName('price_import.applied'),
  changed: Type.Array(ModelId, { description: 'Models with a new price.' }),
  added: Type.Array(ModelId, { description: 'Models that were added.' }),
})

interface PriceImportRouteOptions {
  readonly priceImports: PriceImports
  readonly audit: Audit
}

/** Public price lists: nothing of them is used before an operator says so. */
export const adminPriceImportRoutes = ({ priceImports, audit }: PriceImportRouteOptions): Route[] => {
  const shared = { tag: 'Operator', method: 'POST', access: ofGateway('gateway.manage') } as const
  return [
    defineRoute({
      ...shared,
      path: '/v1/admin/price_imports',
      summary: 'Compare a price list with the prices of the gateway',
      body: CompareBody,
      otherErrors: [409],
      responses: { 200: { description: 'The differences. Nothing is changed.', schema: ImportAnswer } },
      handle: async ({ caller, body }) => {
        const { digest, differences, problems, sameCount } = await priceImports.compare(
          readSource(body),
          caller.accountId,
        )
        return {
          object: 'price_import',
          digest,
          differences: differences.map(differenceToWire),
          problems,
          same_count: sameCount,
        }
      },
    }),
    defineRoute({
      ...shared,
      path: '/v1/admin/price_imports/apply',
      summary: 'Take prices of a list',
      body: ApplyBody,
      otherErrors: [409],
      responses: { 200: { description: 'Every process uses them.', schema: AppliedAnswer } },
      handle: async ({ caller, body }) => {
        const { digest, models = null, effective_from: from, reason = null } = body
        const effectiveFromMs = from === undefined ? null : parseTimestamp('effective_from', from)
        const planned = await priceImports.plan(
          readSource(body),
          { digest, models, effectiveFromMs, authorKeyId: caller.keyId, reason },
          caller.accountId,
        )
        for (const { status, model, change } of planned)
          await audit.run(
            {
              actor: caller,
              action: status === 'changed' ? 'model.price' : 'model.create',
              target: { kind: 'model', id: model },
              details: change.difference,
            },
            async () => {
              await change.make()
              return { id: model }
            },
          )
        const modelsOf = (wanted: 'changed' | 'new') =>
          planned.flatMap(({ status, model }) => (status === wanted ? [model] : []))
        return { object: 'price_import.applied', changed: modelsOf('changed'), added: modelsOf('new') }
      },
    }),
  ]
}

function readSource({ format, text, url }: Static<typeof CompareBody>): PriceSource {
  if ((text === undefined) === (url === undefined))
    throw invalidValue('text', 'Send either the list itself as `text`, or its address as `url`.')
  return { format, from: text === undefined ? { url: url ?? '' } : { text } }
}

function differenceToWire(difference: PriceDifference) {
  if (difference.status === 'gone')
    return { ...difference, listed_as: null, price: null, changes: [], is_suspicious: false }
  const { status, model, listed } = difference
  const isChanged = difference.status === 'changed'
  return {
    status,
    model,
    provider: listed.provider,
    listed_as: listed.key,
    price: isChanged ? difference.price : listed.price,
    changes: isChanged ? difference.changes : [],
    is_suspicious: isChanged && difference.isSuspicious,
  }
}
