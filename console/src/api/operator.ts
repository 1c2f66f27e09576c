import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'
import { cursorPages } from './cursor-pages.ts'

export type PromoCode = Schemas['PromoCode']
export type Redemption = Awaited<ReturnType<typeof fetchRedemptions>>['data'][number]
export type ProviderStatus = Schemas['ProviderStatus']
export type ProviderTest = Schemas['ProviderTest']
export type Vendor = Awaited<ReturnType<typeof fetchProviders>>['vendors'][number]
export type LiveOverview = Schemas['LiveOverview']

export const promoCodesQuery = () =>
  cursorPages({
    queryKey: ['promo-codes'],
    fetchPage: (after, signal) =>
      call(() => client.GET('/v1/admin/promo-codes', { params: { query: { after, limit: 100 } }, signal })),
  })

export const redemptionsQuery = (id: string) =>
  cursorPages({
    queryKey: ['promo-codes', id, 'redemptions'],
    fetchPage: (after, signal) => fetchRedemptions(id, after, signal),
  })

/** The state of every provider over all processes. */
export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: ({ signal }) => fetchProviders(signal),
  refetchInterval: 15_000,
})

function fetchProviders(signal: AbortSignal) {
  return call(() => client.GET('/v1/admin/providers', { signal }))
}

interface PromoCodeDraft {
  readonly code?: string
  readonly amount_usd: number
  readonly expires_at: string | null
  readonly credit_expires_in_days: number | null
  readonly redemptions_max: number | null
  readonly redemptions_per_account_max: number
}

export const createPromoCode = (body: PromoCodeDraft) =>
  call(() => client.POST('/v1/admin/promo-codes', { body }))

export const disablePromoCode = (id: string) =>
  call(() => client.POST('/v1/admin/promo-codes/{id}/disable', { params: { path: { id } } }))

/** Sends the smallest real request to a provider. */
export const testProvider = (name: string) =>
  call(() => client.POST('/v1/admin/providers/{name}/test', { params: { path: { name } }, body: {} }))

export interface ProviderDraft {
  readonly name: string
  readonly vendor: string | null
  readonly base_url?: string
  readonly api_key?: string
  readonly secret_ref?: string
}

export const tryProvider = (body: ProviderDraft & { readonly upstream_model?: string }) =>
  call(() => client.POST('/v1/admin/providers/test', { body }))

export const addProvider = (body: ProviderDraft) => call(() => client.POST('/v1/admin/providers', { body }))

/** What of a provider can be changed here. */
export interface ProviderPatch {
  readonly is_enabled?: boolean
  readonly credentials?: { readonly api_key?: string; readonly secret_ref?: string }[]
  readonly proxy?: {
    readonly url: string
    readonly username: string | null
    readonly password?: string
  } | null
  readonly certificate_authority?: string | null
  readonly regions?: string[]
  readonly retention_days?: number | null
}

export const changeProvider = (name: string, body: ProviderPatch) =>
  call(() => client.PATCH('/v1/admin/providers/{name}', { params: { path: { name } }, body }))

export const removeProvider = (name: string) =>
  call(() => client.DELETE('/v1/admin/providers/{name}', { params: { path: { name } } }))

function fetchRedemptions(id: string, after: string | undefined, signal: AbortSignal) {
  return call(() =>
    client.GET('/v1/admin/promo-codes/{id}/redemptions', {
      params: { path: { id }, query: { after, limit: 100 } },
      signal,
    }),
  )
}
