import { queryOptions } from '@tanstack/react-query'
import { call, client } from './client.ts'
import { noteProject } from './project.ts'

/** The account of the session, with its balance and the rights of its key. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: async ({ signal }) => {
    const account = await call(() => client.GET('/v1/tenants/me', { signal }))
    if (account.session !== null) noteProject(account.id, account.session)
    return account
  },
  refetchInterval: 60_000,
})

/** What the account may still spend, and how fast it spends at present. */
export const budgetQuery = queryOptions({
  queryKey: ['account', 'budget'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/usage/budget', { signal })),
  refetchInterval: 60_000,
})

/** Sets the time zone of the account's reports. */
export const setTimeZone = (timeZone: string) =>
  call(() => client.PATCH('/v1/tenants/me', { body: { time_zone: timeZone } }))
