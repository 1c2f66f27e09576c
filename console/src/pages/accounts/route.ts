import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { accountsQuery, type AccountFilters } from '../../api/accounts.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const accountsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/accounts',
  validateSearch: ({ search, status }: Record<string, unknown>): AccountFilters => ({
    ...(typeof search === 'string' && search !== '' && { search }),
    ...((status === 'active' || status === 'suspended') && { status }),
  }),
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchInfiniteQuery(accountsQuery(deps))
  },
  component: lazyRouteComponent(() => import('./accounts-page.tsx'), 'AccountsPage'),
})
