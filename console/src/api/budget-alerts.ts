import { queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'
import { cursorPages } from './cursor-pages.ts'

export type BudgetAlert = Schemas['BudgetAlert']
export type BudgetAlertSettings = Schemas['BudgetAlertSettings']

/** When the account had spent a part of a budget, newest first. */
export const budgetAlertsQuery = () =>
  cursorPages({
    queryKey: ['budget-alerts', 'list'],
    fetchPage: (after, signal) =>
      call(() => client.GET('/v1/budget-alerts', { params: { query: { after, limit: 100 } }, signal })),
  })

export const alertSettingsQuery = queryOptions({
  queryKey: ['budget-alerts', 'settings'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/budget-alerts/settings', { signal })),
})

export const changeAlertSettings = (body: Omit<BudgetAlertSettings, 'object' | 'tenant_id'>) =>
  call(() => client.PATCH('/v1/budget-alerts/settings', { body }))
