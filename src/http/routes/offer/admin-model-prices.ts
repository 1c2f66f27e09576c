import { Type } from 'typebox'
import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import { toTimestamp, type Clock } from '../../../kernel/clock.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import {
  describeEntry,
  PriceList,
  type Catalog,
  type CatalogModel,
} from '../../../modules/catalog/catalog.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import {
  withoutRates,
  type ModelChange,
  type Offer,
  type OfferedPrice,
} from '../../../modules/offer/offer.ts'
import { orNull } from '../../../wires/nullable.ts'
import { Id, ModelId, objectName } from '../../../wires/usual-members.ts'
import { ofGateway } from '../../access.ts'
import { listSchema, wholeList } from '../../answers/list-page.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { defineRoute, type Route } from '../../route.ts'
import { ModelParams } from './admin-models.ts'
import { Costs, Reason } from './model-wire.ts'

const PriceParams = Type.Object({
  ...ModelParams.properties,
  version: Type.String({ pattern: '^\\d{1,18}$', description: 'The version of a price list.' }),
})
const PriceBody = Type.Object(
  {
    price: Type.Optional(PriceList),
    costs: Type.Optional(Costs),
    effective_from: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'The moment from which it is charged, to the millisecond. At once without it. Not in the past.',
      }),
    ),
    reason: Reason,
  },
  {
    additionalProperties: false,
    minProperties: 1,
    examples: [
      {
        price: { unit: 'token', input_usd_per_1m: 2.5, output_usd_per_1m: 15 },
        reason: 'The vendor raises its prices.',
      },
    ],
  },
)
const PriceAnswer = Type.Object(
  {
    id: Type.String({
      description: 'The version of the price list, which usage records name as `price_version`.',
    }),
    object: objectName('model_price'),
    model: ModelId,
    state: Type.Enum(['past', 'current', 'future', 'withdrawn'], {
      description: 'Whether it was charged, is charged, will be charged, or was withdrawn before.',
    }),
    effective_from: orNull(
      Type.String({ format: 'date-time' }),
      'The moment from which it is charged. Null: the list of the catalog file, which is charged before the first of the others.',
    ),
    price: PriceList,
    source: Type.Enum(['file', 'database'], {
      description:
        'Whether it is the price of the catalog file, or was set over the API. One of the file that has a moment was charged again from then on.',
    }),
    costs: orNull(
      Costs,
      'What providers charge while the list is charged. Null: what the routes themselves say.',
    ),
    created_by: orNull(Type.String(), 'The key that added it. Null for the list of the file.'),
    reason: orNull(Type.String(), 'Why it was added.'),
    created_at: orNull(
      Type.String({ format: 'date-time' }),
      'When it was added. Null for the list of the file.',
    ),
  },
  { title: 'ModelPrice' },
)
const WithdrawnAnswer = Type.Object({
  id: Id,
  object: objectName('model_price.deleted'),
  deleted: Type.Literal(true, { description: 'Whether requests from now on are not charged by it.' }),
})

interface PriceRouteOptions {
  readonly catalog: Pick<Catalog, 'find'>
  readonly offer: Pick<Offer, 'models'>
  readonly audit: Audit
  readonly clock: Clock
}

/** Prices have dates: a request is charged by the list of the moment it began. */
export const adminModelPriceRoutes = ({ catalog, offer, audit, clock }: PriceRouteOptions): Route[] => {
  const shared = { tag: 'Operator', params: ModelParams } as const
  const { models } = offer

  const listOf = async (id: string): Promise<Record<string, unknown>[]> => {
    const timed = catalog.find(id)
    if (timed === undefined) throw notFound('model')
    const nowMs = clock.nowMs()
    const prices = await models.listPrices(id)
    const current = prices.find((one) => one.withdrawnAtMs === null && one.effectiveFromMs <= nowMs)
    const added = prices.map((one) => ({
      ...priceToWire(one, stateOf(one, current)),
      // As the file says it today.
      ...(one === current && one.isOfFile ? { price: describeEntry(timed.first)['price'] } : {}),
    }))
    return timed.first.isOffered === true
      ? added
      : [...added, filePriceToWire(timed.first, current === undefined)]
  }
  const make = async (actor: Caller, action: string, id: string, change: ModelChange): Promise<bigint> => {
    const made = await audit.run(
      { actor, action, target: { kind: 'model', id }, details: change.difference },
      async () => ({ id, version: await change.make() }),
    )
    return made.version
  }

  return [
    defineRoute({
      ...shared,
      access: ofGateway('gateway.read'),
      method: 'GET',
      path: '/v1/admin/models/:id/prices',
      summary: 'List the prices of a model',
      otherErrors: [404],
      responses: {
        200: {
          description: 'The price lists of the future, of now and of the past, the latest first.',
          schema: listSchema('prices', PriceAnswer),
        },
      },
      handle: async ({ params }) => wholeList('prices', await listOf(params.id)),
    }),
    defineRoute({
      ...shared,
      access: ofGateway('gateway.manage'),
      method: 'POST',
      path: '/v1/admin/models/:id/prices',
      summary: 'Set the price of a model, now or later',
      body: PriceBody,
      otherErrors: [404, 409],
      responses: { 201: { description: 'Every process knows it.', schema: PriceAnswer } },
      handle: async ({ caller, params, body, reply }) => {
        const { price, costs, effective_from: from, reason = null } = body
        if (price === undefined && costs === undefined)
          throw invalidValue('price', 'Give a price, costs, or both.')
        const effectiveFromMs = from === undefined ? null : parseTimestamp('effective_from', from)
        const change = await models.addPrice(params.id, {
          price,
          costs,
          effectiveFromMs,
          authorKeyId: caller.keyId,
          reason,
        })
        const version = await make(caller, 'model.price', params.id, change)
        const added = (await listOf(params.id)).find(({ id }) => id === String(version))
        if (added === undefined) throw notFound('price list')
        reply.code(201)
        return added
      },
    }),
    defineRoute({
      ...shared,
      params: PriceParams,
      access: ofGateway('gateway.manage'),
      method: 'DELETE',
      path: '/v1/admin/models/:id/prices/:version',
      summary: 'Withdraw a price of the future, or return to that of the file',
      otherErrors: [404, 409],
      responses: {
        200: {
          description: 'Requests that begin from now on are not charged by it.',
          schema: WithdrawnAnswer,
        },
      },
      handle: async ({ caller, params }) => {
        const author = { authorKeyId: caller.keyId, reason: null }
        const change = await models.removePrice(params.id, BigInt(params.version), author)
        await make(caller, 'model.price_withdraw', params.id, change)
        return { id: params.version, object: 'model_price.deleted', deleted: true }
      },
    }),
  ]
}

type PriceState = 'past' | 'current' | 'future' | 'withdrawn'

function stateOf(price: OfferedPrice, current: OfferedPrice | undefined): PriceState {
  if (price.withdrawnAtMs !== null) return 'withdrawn'
  if (price === current) return 'current'
  return current === undefined || price.effectiveFromMs > current.effectiveFromMs ? 'future' : 'past'
}

function priceToWire(price: OfferedPrice, state: PriceState): Record<string, unknown> {
  return {
    id: String(price.version),
    object: 'model_price',
    model: price.model,
    state,
    effective_from: toTimestamp(price.effectiveFromMs),
    price: price.price,
    source: price.isOfFile ? 'file' : 'database',
    costs: price.costs?.map(withoutRates) ?? null,
    created_by: price.authorKeyId,
    reason: price.reason,
    created_at: toTimestamp(price.createdAtMs),
  }
}

function filePriceToWire(model: CatalogModel, isCurrent: boolean): Record<string, unknown> {
  return {
    id: model.priceVersion ?? '',
    object: 'model_price',
    model: model.id,
    state: isCurrent ? 'current' : 'past',
    effective_from: null,
    price: describeEntry(model)['price'],
    source: 'file',
    costs: null,
    created_by: null,
    reason: null,
    created_at: null,
  }
}
