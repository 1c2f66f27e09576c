import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'

/** By what usage can be filtered. */
export type FilterDimension = 'model' | 'provider' | 'key' | 'project' | `tag:${string}`

interface FilterValue {
  readonly value: string
  readonly name: string
  /** Whose it is, for operators. */
  readonly accountName: string | null
}

const VALUES_MAX = 100
/** So long the values of a filter are offered without asking again. */
const STALE_MS = 60_000

/** The values that were used most in 30 days, of the account or of all accounts. */
export const filterValuesQuery = (dimension: FilterDimension, isOfAll: boolean) =>
  queryOptions({
    queryKey: ['filter-values', dimension, isOfAll],
    queryFn: ({ signal }) => (isOfAll ? fetchOfAll(dimension, signal) : fetchOwn(dimension, signal)),
    staleTime: STALE_MS,
  })

async function fetchOfAll(by: FilterDimension, signal: AbortSignal): Promise<FilterValue[]> {
  const query = { by, window: '30d' as const, limit: VALUES_MAX }
  const answer = await call(() => client.GET('/v1/admin/usage', { params: { query }, signal }))
  if (typeof answer === 'string') throw new TypeError('the usage is no JSON')
  return answer.data.map(({ value, name, account_name: accountName }) => ({ value, name, accountName }))
}

async function fetchOwn(by: FilterDimension, signal: AbortSignal): Promise<FilterValue[]> {
  if (by === 'project') return fetchProjects(signal)
  const query = { by, window: '30d' as const, limit: VALUES_MAX }
  const { data } = await call(() => client.GET('/v1/usage/spending', { params: { query }, signal }))
  return data.map(({ value, name }) => ({ value, name: name ?? value, accountName: null }))
}

async function fetchProjects(signal: AbortSignal): Promise<FilterValue[]> {
  const query = { limit: VALUES_MAX }
  const { data } = await call(() => client.GET('/v1/organization/projects', { params: { query }, signal }))
  return data.map(({ id, name }) => ({ value: id, name, accountName: null }))
}

/** Accounts with a text in their name, those that spend most first. */
export const foundAccountsQuery = (words: string) =>
  queryOptions({
    queryKey: ['filter-values', 'account', words],
    queryFn: async ({ signal }) => {
      const search = words === '' ? undefined : words
      const query = { search, sort: 'spend' as const, limit: VALUES_MAX }
      const answer = await call(() => client.GET('/v1/admin/accounts', { params: { query }, signal }))
      if (typeof answer === 'string') throw new TypeError('the list of accounts is no JSON')
      return answer.data
    },
    staleTime: STALE_MS,
  })
