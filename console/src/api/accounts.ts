import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'
import { cursorPages } from './cursor-pages.ts'
import { fileUrl, jsonOf } from './list-files.ts'
import type { KeyActions } from './keys.ts'

export type Account = Awaited<ReturnType<typeof fetchAccounts>>['data'][number]
export type AccountLimits = Schemas['AccountLimits']

export const ACCOUNT_SORTS = ['created', 'name', 'balance', 'spend', 'growth', 'errors'] as const

/** Orders by a figure that can be bounded. */
export function isFigure(sort: string | undefined): boolean {
  return sort !== undefined && sort !== 'created' && sort !== 'name'
}

export interface AccountFilters {
  readonly search?: string | undefined
  readonly status?: 'active' | 'suspended' | undefined
  readonly sort?: (typeof ACCOUNT_SORTS)[number] | undefined
  readonly order?: 'asc' | 'desc' | undefined
  /** Bounds of the figure that accounts are sorted by. */
  readonly min?: number | undefined
  readonly max?: number | undefined
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

export const accountPaymentsQuery = (id: string) =>
  cursorPages({
    queryKey: ['accounts', id, 'payments'],
    fetchPage: async (after, signal) => {
      const params = { path: { id }, query: { after, limit: 100 } }
      return jsonOf(await call(() => client.GET('/v1/admin/accounts/{id}/payments', { params, signal })))
    },
  })

/** Where all payments of an account are downloaded as a file. */
export function accountPaymentsFileUrl(id: string): string {
  return fileUrl(`/v1/admin/accounts/${id}/payments`, {})
}

export const accountRequestsQuery = (id: string) =>
  cursorPages({
    queryKey: ['accounts', id, 'requests'],
    fetchPage: async (after, signal) => {
      const query = { account_id: id, after, limit: 100 }
      return jsonOf(await call(() => client.GET('/v1/admin/requests', { params: { query }, signal })))
    },
  })

export const accountLimitsQuery = (id: string) =>
  queryOptions({
    queryKey: ['accounts', id, 'limits'],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/admin/accounts/{id}/limits', { params: { path: { id } }, signal })),
  })

export const ACCOUNT_USAGE_PERIODS = ['24h', '7d', '30d'] as const
export type AccountUsagePeriod = (typeof ACCOUNT_USAGE_PERIODS)[number]

/** The usage of an account over time, by model. */
export const accountUsageQuery = (id: string, window: AccountUsagePeriod) =>
  queryOptions({
    queryKey: ['accounts', id, 'usage', window],
    queryFn: ({ signal }) =>
      call(() =>
        client.GET('/v1/admin/accounts/{id}/usage/timeseries', {
          params: { path: { id }, query: { window, by: 'model' } },
          signal,
        }),
      ),
  })

export const createAccount = (name: string, creditUsd: number) =>
  call(() => client.POST('/v1/admin/accounts', { body: { name, credit_usd: creditUsd } }))

/** The account is told the reason. */
export const suspendAccount = (id: string, reason: string) =>
  call(() =>
    client.POST('/v1/admin/accounts/{id}/suspend', {
      params: { path: { id } },
      body: reason === '' ? {} : { reason },
    }),
  )

export const activateAccount = (id: string) =>
  call(() => client.POST('/v1/admin/accounts/{id}/activate', { params: { path: { id } } }))

/** For operators only. An empty text deletes the note. */
export const writeAccountNote = (id: string, note: string) =>
  call(() =>
    client.PATCH('/v1/admin/accounts/{id}', { params: { path: { id } }, body: { note: note || null } }),
  )

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

export const setAccountBudget = (
  id: string,
  body: { monthly_usd: number | null; daily_usd: number | null },
) => call(() => client.PATCH('/v1/admin/accounts/{id}/budget', { params: { path: { id } }, body }))

export const setAccountTier = (id: string, tier: string | null) =>
  call(() => client.PATCH('/v1/admin/accounts/{id}/limits', { params: { path: { id } }, body: { tier } }))

/** The keys of an account, for an operator. */
export const accountKeyActions = (id: string): KeyActions => ({
  needs: 'gateway.manage',
  queryKey: ['accounts', id, 'keys'],
  create: (body) =>
    call(() => client.POST('/v1/admin/accounts/{id}/api-keys', { params: { path: { id } }, body })),
  update: (keyId, body) =>
    call(() =>
      client.PATCH('/v1/admin/accounts/{id}/api-keys/{key_id}', {
        params: { path: { id, key_id: keyId } },
        body,
      }),
    ),
  revoke: (keyId) =>
    call(() =>
      client.DELETE('/v1/admin/accounts/{id}/api-keys/{key_id}', {
        params: { path: { id, key_id: keyId } },
      }),
    ),
})

/** Where all accounts that the filters find are downloaded as a file. */
export function accountsFileUrl(filters: AccountFilters): string {
  const given = Object.entries({ ...filters, format: 'csv' }).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  )
  return `/v1/admin/accounts?${new URLSearchParams(given)}`
}

async function fetchAccounts(filters: AccountFilters, after: string | undefined, signal: AbortSignal) {
  const query = { ...filters, after, limit: 100 }
  const answer = await call(() => client.GET('/v1/admin/accounts', { params: { query }, signal }))
  if (typeof answer === 'string') throw new TypeError('the list of accounts is no JSON')
  return answer
}
