import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import {
  ACCOUNT_ID,
  allPaymentsQuery,
  PAYMENT_STATUSES,
  type PaymentFilters,
} from '../../api/all-payments.ts'
import { PAYMENT_KINDS } from '../../api/billing.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import { dayOf } from '../../ui/format/day-of.ts'

export const paymentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/payments',
  validateSearch: (search: Record<string, unknown>): PaymentFilters => {
    const { account } = search
    const kind = PAYMENT_KINDS.find((name) => name === search['kind'])
    const status = PAYMENT_STATUSES.find((name) => name === search['status'])
    const [since, until] = [dayOf(search['since']), dayOf(search['until'])]
    return {
      ...(typeof account === 'string' && ACCOUNT_ID.test(account) && { account }),
      ...(kind && { kind }),
      ...(status && { status }),
      ...(since && { since }),
      ...(until && (!since || since <= until) && { until }),
    }
  },
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchInfiniteQuery(allPaymentsQuery(deps))
  },
  component: lazyRouteComponent(() => import('./payments-page.tsx'), 'PaymentsPage'),
})
