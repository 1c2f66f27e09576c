import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/shell-route.tsx'

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/overview',
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
})
