import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { accountBudgetQuery, oneAccountQuery } from '../../api/operator.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

const ACCOUNT_TABS = ['keys', 'ledger', 'payments', 'requests'] as const

export interface AccountSearch {
  readonly tab?: (typeof ACCOUNT_TABS)[number] | undefined
}

export const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/accounts/$id',
  validateSearch: (search: Record<string, unknown>): AccountSearch => {
    const tab = ACCOUNT_TABS.find((name) => name === search['tab'])
    return tab ? { tab } : {}
  },
  loader: ({ context: { queryClient }, params: { id } }) => {
    void queryClient.prefetchQuery(oneAccountQuery(id))
    void queryClient.prefetchQuery(accountBudgetQuery(id))
  },
  component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
})
