import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { latestDeploymentsQuery } from '../../api/deployments.ts'
import { latestTasksQuery } from '../../api/tasks.ts'
import { usageTodayQuery } from '../../api/usage.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  loader: ({ context: { queryClient } }) => {
    void queryClient.prefetchQuery(usageTodayQuery)
    void queryClient.prefetchQuery(latestTasksQuery)
    void queryClient.prefetchQuery(latestDeploymentsQuery)
  },
  component: lazyRouteComponent(() => import('./home-page.tsx'), 'HomePage'),
})
