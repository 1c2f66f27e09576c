import { Type } from 'typebox'
import type { Clock } from '../../../kernel/clock.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import type { AdjustmentChange, Offer } from '../../../modules/offer/offer.ts'
import { ofGateway } from '../../access.ts'
import { ListQuery, listSchema, PAGE_LIMIT_DEFAULT } from '../../answers/list-page.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  AdjustmentAnswer,
  AdjustmentChangeBody,
  AdjustmentCreateBody,
  adjustmentToWire,
  ADJUSTMENT_MEMBERS,
  readAdjustmentInput,
  readProjectId,
} from './price-adjustment-wire.ts'

const AdjustmentParams = Type.Object({
  id: Type.String({ pattern: '^\\d{1,18}$', description: 'The id of a price adjustment.' }),
})
const { account_id, project_id, model } = ADJUSTMENT_MEMBERS
const AdjustmentQuery = Type.Object({
  limit: ListQuery.properties.limit,
  after: Type.Optional(Type.String({ pattern: '^\\d{1,18}$', description: 'The id from `next_cursor`.' })),
  account_id,
  project_id,
  model,
})

interface AdjustmentRouteOptions {
  readonly offer: Pick<Offer, 'adjustments'>
  readonly audit: Audit
  readonly clock: Clock
}

/** Markups and discounts have dates: a request is charged by the one that counts at the moment it began. */
export const adminPriceAdjustmentRoutes = ({ offer, audit, clock }: AdjustmentRouteOptions): Route[] => {
  const { adjustments } = offer
  const shared = { tag: 'Operator' } as const
  const manage = { ...shared, access: ofGateway('gateway.manage') } as const

  const describe = async (version: bigint) => adjustmentToWire(await adjustments.find(version), clock.nowMs())
  const make = (
    actor: Caller,
    { action, id, reason }: { action: string; id?: string; reason?: string | undefined },
    change: AdjustmentChange,
  ) =>
    audit.run(
      {
        actor,
        action: `price_adjustment.${action}`,
        target: { kind: 'price_adjustment', id: id ?? null },
        details: { ...change.difference, ...(reason === undefined ? {} : { reason }) },
      },
      async () => {
        const version = await change.make()
        return { id: id ?? String(version) }
      },
    )

  return [
    defineRoute({
      ...shared,
      access: ofGateway('gateway.read'),
      method: 'GET',
      path: '/v1/admin/price_adjustments',
      summary: 'List markups and discounts',
      query: AdjustmentQuery,
      responses: {
        200: {
          description: 'All that ever were, the latest first.',
          schema: listSchema('price_adjustments', AdjustmentAnswer),
        },
      },
      handle: async ({ query }) => {
        const { limit = PAGE_LIMIT_DEFAULT, after } = query
        const page = await adjustments.list({
          limit,
          beforeVersion: after === undefined ? null : BigInt(after),
          accountId: query.account_id ?? null,
          projectId: query.project_id === undefined ? null : readProjectId(query.project_id),
          model: query.model ?? null,
        })
        const nowMs = clock.nowMs()
        const data = page.items.map((one) => adjustmentToWire(one, nowMs))
        return {
          object: 'list',
          data,
          price_adjustments: data,
          total: page.total,
          has_more: page.hasMore,
          next_cursor: page.hasMore ? String(page.items.at(-1)?.version) : null,
        }
      },
    }),
    defineRoute({
      ...manage,
      method: 'POST',
      path: '/v1/admin/price_adjustments',
      summary: 'Add a markup or discount, now or later',
      body: AdjustmentCreateBody,
      otherErrors: [409],
      responses: { 201: { description: 'Every process applies it.', schema: AdjustmentAnswer } },
      handle: async ({ caller, body, reply }) => {
        const change = await adjustments.add(readAdjustmentInput(body, caller.keyId))
        const { id } = await make(caller, { action: 'create' }, change)
        reply.code(201)
        return describe(BigInt(id))
      },
    }),
    defineRoute({
      ...shared,
      access: ofGateway('gateway.read'),
      method: 'GET',
      path: '/v1/admin/price_adjustments/:id',
      summary: 'Read a markup or discount',
      params: AdjustmentParams,
      otherErrors: [404],
      responses: { 200: { description: 'The adjustment.', schema: AdjustmentAnswer } },
      handle: ({ params }) => describe(BigInt(params.id)),
    }),
    defineRoute({
      ...manage,
      method: 'PATCH',
      path: '/v1/admin/price_adjustments/:id',
      summary: 'Move the end of a markup or discount',
      params: AdjustmentParams,
      body: AdjustmentChangeBody,
      otherErrors: [404, 409],
      responses: { 200: { description: 'Every process knows it.', schema: AdjustmentAnswer } },
      handle: async ({ caller, params: { id }, body }) => {
        const { effective_until: until, reason } = body
        const untilMs = until === null ? null : parseTimestamp('effective_until', until)
        const change = await adjustments.changeEnd(BigInt(id), untilMs)
        await make(caller, { action: 'change', id, reason }, change)
        return describe(BigInt(id))
      },
    }),
    defineRoute({
      ...manage,
      method: 'DELETE',
      path: '/v1/admin/price_adjustments/:id',
      summary: 'End a markup or discount',
      params: AdjustmentParams,
      otherErrors: [404, 409],
      responses: {
        200: {
          description: 'It has ended, or it was withdrawn before it began. It stays in the list.',
          schema: AdjustmentAnswer,
        },
      },
      handle: async ({ caller, params: { id } }) => {
        await make(caller, { action: 'end', id }, await adjustments.end(BigInt(id)))
        return describe(BigInt(id))
      },
    }),
  ]
}
