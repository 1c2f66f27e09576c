import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { statementsQuery } from '../../api/statements.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const statementsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/billing/statements',
  loader: ({ context: { queryClient } }) => void queryClient.prefetchInfiniteQuery(statementsQuery()),
  component: lazyRouteComponent(() => import('./statements-page.tsx'), 'StatementsPage'),
})
