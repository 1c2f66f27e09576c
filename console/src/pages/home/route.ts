import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { budgetQuery } from '../../api/account.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(budgetQuery)
  },
  component: lazyRouteComponent(() => import('./home-page.tsx'), 'HomePage'),
})
