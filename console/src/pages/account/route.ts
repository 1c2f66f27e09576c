import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import {
  ACCOUNT_USAGE_PERIODS,
  accountBudgetQuery,
  oneAccountQuery,
  type AccountUsagePeriod,
} from '../../api/accounts.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

const ACCOUNT_TABS = ['keys', 'usage', 'limits', 'ledger', 'payments', 'requests'] as const
export type AccountTab = (typeof ACCOUNT_TABS)[number]

export interface AccountSearch {
  readonly tab?: AccountTab | undefined
  /** How far back usage is shown. */
  readonly period?: AccountUsagePeriod | undefined
}

export const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/accounts/$id',
  validateSearch: (search: Record<string, unknown>): AccountSearch => {
    const tab = ACCOUNT_TABS.find((name) => name === search['tab'])
    const period = ACCOUNT_USAGE_PERIODS.find((name) => name === search['period'])
    return { ...(tab && { tab }), ...(period && { period }) }
  },
  loader: ({ context: { queryClient }, params: { id } }) => {
    void queryClient.prefetchQuery(oneAccountQuery(id))
    void queryClient.prefetchQuery(accountBudgetQuery(id))
  },
  component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
})
