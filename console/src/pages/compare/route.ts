import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { modelsQuery } from '../../api/models.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import { readCompareSearch } from './compare-search.ts'

export const compareRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/compare',
  validateSearch: readCompareSearch,
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(modelsQuery)
  },
  component: lazyRouteComponent(() => import('./compare-page.tsx'), 'ComparePage'),
})
