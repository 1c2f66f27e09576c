import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { deploymentBillQuery, deploymentQuery } from '../../api/deployment.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import { readDeploymentSearch } from './deployment-search.ts'

export const deploymentRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deployments/$id',
  validateSearch: readDeploymentSearch,
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(deploymentQuery(params.id))
    void context.queryClient.prefetchQuery(deploymentBillQuery(params.id))
  },
  component: lazyRouteComponent(() => import('./deployment-page.tsx'), 'DeploymentPage'),
})
