import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { batchListQuery } from '../../api/batches.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const batchesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/batches',
  loader: ({ context }) => {
    void context.queryClient.prefetchInfiniteQuery(batchListQuery)
  },
  component: lazyRouteComponent(() => import('./batches-page.tsx'), 'BatchesPage'),
})
