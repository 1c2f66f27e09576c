import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { batchQuery } from '../../api/batches.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import { readBatchSearch } from './batch-search.ts'

export const batchRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/batches/$id',
  validateSearch: readBatchSearch,
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(batchQuery(params.id))
  },
  component: lazyRouteComponent(() => import('./batch-page.tsx'), 'BatchPage'),
})
