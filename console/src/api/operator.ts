import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'
import { cursorPages } from './cursor-pages.ts'

export type Account = Awaited<ReturnType<typeof fetchAccounts>>['data'][number]
export type AuditEntry = Awaited<ReturnType<typeof fetchAudit>>['data'][number]
export type LedgerEntry = Awaited<ReturnType<typeof fetchLedger>>['data'][number]
export type PromoCode = Schemas['PromoCode']
export type ProviderStatus = Schemas['ProviderStatus']
export type LiveOverview = Schemas['LiveOverview']

export interface AccountFilters {
  readonly search?: string | undefined
  readonly status?: 'active' | 'suspended' | undefined
}

export const accountsQuery = (filters: AccountFilters) =>
  cursorPages({
    queryKey: ['accounts', 'list', filters],
    fetchPage: (after, signal) => fetchAccounts(filters, after, signal),
  })

export const oneAccountQuery = (id: string) =>
  queryOptions({
    queryKey: ['accounts', id],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/admin/accounts/{id}', { params: { path: { id } }, signal })),
  })

export const accountBudgetQuery = (id: string) =>
  queryOptions({
    queryKey: ['accounts', id, 'budget'],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/admin/accounts/{id}/budget', { params: { path: { id } }, signal })),
  })

export const accountKeysQuery = (id: string) =>
  cursorPages({
    queryKey: ['accounts', id, 'keys'],
    fetchPage: (after, signal) =>
      call(() =>
        client.GET('/v1/admin/accounts/{id}/api-keys', {
          params: { path: { id }, query: { after, limit: 100 } },
          signal,
        }),
      ),
  })

export const accountLedgerQuery = (id: string) =>
  cursorPages({
    queryKey: ['accounts', id, 'ledger'],
    fetchPage: (after, signal) => fetchLedger(id, after, signal),
  })

export const accountPaymentsQuery = (id: string) =>
  cursorPages({
    queryKey: ['accounts', id, 'payments'],
    fetchPage: (after, signal) =>
      call(() =>
        client.GET('/v1/admin/accounts/{id}/payments', {
          params: { path: { id }, query: { after, limit: 100 } },
          signal,
        }),
      ),
  })

export const accountRequestsQuery = (id: string) =>
  cursorPages({
    queryKey: ['accounts', id, 'requests'],
    fetchPage: (after, signal) =>
      call(() =>
        client.GET('/v1/admin/requests', {
          params: { query: { account_id: id, after, limit: 100 } },
          signal,
        }),
      ),
  })

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

export const createAccount = (name: string, creditUsd: number) =>
  call(() => client.POST('/v1/admin/accounts', { body: { name, credit_usd: creditUsd } }))

export const changeAccountState = (id: string, action: 'suspend' | 'activate') =>
  action === 'suspend'
    ? call(() => client.POST('/v1/admin/accounts/{id}/suspend', { params: { path: { id } } }))
    : call(() => client.POST('/v1/admin/accounts/{id}/activate', { params: { path: { id } } }))

/** Gives credit, or deducts it if negative. The idempotency key makes a repeated click the same adjustment. */
export const adjustCredit = (
  id: string,
  body: { amount_usd: number; reason: string; class: 'paid' | 'promotional' },
  idempotencyKey: string,
) =>
  call(() =>
    client.POST('/v1/admin/accounts/{id}/credit', {
      params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey } },
      body,
    }),
  )

/** Returns the rest of a payment at the provider and takes its credit back. */
export const refundPayment = (id: string, idempotencyKey: string) =>
  call(() =>
    client.POST('/v1/admin/payments/{id}/refund', {
      params: { path: { id }, header: { 'Idempotency-Key': idempotencyKey } },
      body: {},
    }),
  )

export const setAccountBudget = (
  id: string,
  body: { monthly_usd: number | null; daily_usd: number | null },
) => call(() => client.PATCH('/v1/admin/accounts/{id}/budget', { params: { path: { id } }, body }))

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

function fetchAccounts(filters: AccountFilters, after: string | undefined, signal: AbortSignal) {
  return call(() =>
    client.GET('/v1/admin/accounts', { params: { query: { ...filters, after, limit: 100 } }, signal }),
  )
}

function fetchLedger(id: string, after: string | undefined, signal: AbortSignal) {
  return call(() =>
    client.GET('/v1/admin/accounts/{id}/ledger', {
      params: { path: { id }, query: { after, limit: 100 } },
      signal,
    }),
  )
}

function fetchAudit(targetId: string | undefined, after: string | undefined, signal: AbortSignal) {
  return call(() =>
    client.GET('/v1/admin/audit', { params: { query: { target_id: targetId, after, limit: 100 } }, signal }),
  )
}
