import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ACCOUNT_SORTS, accountsQuery, isFigure, type AccountFilters } from '../../api/accounts.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const accountsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/accounts',
  validateSearch: ({ search, status, ...given }: Record<string, unknown>): AccountFilters => ({
    ...(typeof search === 'string' && search !== '' && { search }),
    ...((status === 'active' || status === 'suspended') && { status }),
    ...sortOf(given),
  }),
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchInfiniteQuery(accountsQuery(deps))
  },
  component: lazyRouteComponent(() => import('./accounts-page.tsx'), 'AccountsPage'),
})

function sortOf({ sort, order, min, max }: Record<string, unknown>): AccountFilters {
  const known = ACCOUNT_SORTS.find((name) => name === sort)
  if (known === undefined) return {}
  return {
    sort: known,
    ...((order === 'asc' || order === 'desc') && { order }),
    ...(isFigure(known) && typeof min === 'number' && { min }),
    ...(isFigure(known) && typeof max === 'number' && { max }),
  }
}
