import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { deploymentListQuery } from '../../api/deployment.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import { readDeploymentsSearch } from './deployments-search.ts'

export const deploymentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deployments',
  validateSearch: readDeploymentsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchInfiniteQuery(deploymentListQuery(deps.status))
  },
  component: lazyRouteComponent(() => import('./deployments-page.tsx'), 'DeploymentsPage'),
})
