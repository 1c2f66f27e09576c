import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'
import { cursorPages } from './cursor-pages.ts'

export type AuditEntry = Awaited<ReturnType<typeof fetchAudit>>['data'][number]
export type PromoCode = Schemas['PromoCode']
export type ProviderStatus = Schemas['ProviderStatus']
export type LiveOverview = Schemas['LiveOverview']

export const auditQuery = (targetId: string | undefined) =>
  cursorPages({
    queryKey: ['audit', targetId ?? null],
    fetchPage: (after, signal) => fetchAudit(targetId, after, signal),
  })

export const promoCodesQuery = () =>
  cursorPages({
    queryKey: ['promo-codes'],
    fetchPage: (after, signal) =>
      call(() => client.GET('/v1/admin/promo-codes', { params: { query: { after, limit: 100 } }, signal })),
  })

/** The state of every provider over all processes. */
export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/admin/providers', { signal })),
  refetchInterval: 15_000,
})

/** Returns the rest of a payment at the provider and takes its credit back. */
export const refundPayment = (id: string, idempotencyKey: string) =>
  call(() =>
    client.POST('/v1/admin/payments/{id}/refund', {
      params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey } },
      body: {},
    }),
  )

export const createPromoCode = (body: {
  code?: string
  amount_usd: number
  redemptions_max: number | null
}) => call(() => client.POST('/v1/admin/promo-codes', { body }))

export const disablePromoCode = (id: string) =>
  call(() => client.POST('/v1/admin/promo-codes/{id}/disable', { params: { path: { id } } }))

/** Sends the smallest real request to a provider. */
export const testProvider = (name: string) =>
  call(() => client.POST('/v1/admin/providers/{name}/test', { params: { path: { name } }, body: {} }))

function fetchAudit(targetId: string | undefined, after: string | undefined, signal: AbortSignal) {
  return call(() =>
    client.GET('/v1/admin/audit', { params: { query: { target_id: targetId, after, limit: 100 } }, signal }),
  )
}
