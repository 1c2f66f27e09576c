import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { analyticsQuery, analyticsSeriesQuery } from '../../api/analytics.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import { readAnalyticsSearch, selectionOf } from './analytics-search.ts'

export const analyticsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/analytics',
  validateSearch: readAnalyticsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) => {
    const selection = selectionOf(deps)
    void queryClient.prefetchQuery(analyticsQuery(selection))
    void queryClient.prefetchQuery(analyticsSeriesQuery(selection))
  },
  component: lazyRouteComponent(() => import('./analytics-page.tsx'), 'AnalyticsPage'),
})
