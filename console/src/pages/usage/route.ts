import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import {
  usageLatencyQuery,
  usageSeriesQuery,
  usageSpendingQuery,
  usageSummaryQuery,
} from '../../api/usage.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import { readUsageSearch, selectionOf } from './usage-search.ts'

export const usageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/usage',
  validateSearch: readUsageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) => {
    const selection = selectionOf(deps)
    void queryClient.prefetchQuery(usageSummaryQuery(selection))
    if (deps.view === 'latency') {
      void queryClient.prefetchQuery(usageLatencyQuery(selection))
    } else {
      void queryClient.prefetchQuery(usageSeriesQuery(selection))
      void queryClient.prefetchQuery(usageSpendingQuery(selection))
    }
  },
  component: lazyRouteComponent(() => import('./usage-page.tsx'), 'UsagePage'),
})
