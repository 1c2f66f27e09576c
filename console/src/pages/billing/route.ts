import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { budgetQuery } from '../../api/account.ts'
import { paymentConfigQuery, paymentsQuery } from '../../api/billing.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export interface BillingSearch {
  /** How the person came back from a checkout, or from saving a card. */
  readonly back?: 'paid' | 'cancelled' | 'saved' | undefined
}

export const billingRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/billing',
  validateSearch: ({ back }: Record<string, unknown>): BillingSearch =>
    back === 'paid' || back === 'cancelled' || back === 'saved' ? { back } : {},
  loader: ({ context: { queryClient } }) => {
    void queryClient.prefetchQuery(budgetQuery)
    void queryClient.prefetchQuery(paymentConfigQuery)
    void queryClient.prefetchInfiniteQuery(paymentsQuery())
  },
  component: lazyRouteComponent(() => import('./billing-page.tsx'), 'BillingPage'),
})
