import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { requestsQuery } from '../../api/requests.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import { filtersOf, readLogSearch } from './log-search.ts'

export const logRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/log',
  validateSearch: readLogSearch,
  loaderDeps: ({ search }) => filtersOf(search),
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchInfiniteQuery(requestsQuery(deps))
  },
  component: lazyRouteComponent(() => import('./log-page.tsx'), 'LogPage'),
})
