import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ENTRY_KINDS, ledgerQuery, type LedgerFilters } from '../../api/ledger.ts'
import { shellRoute } from '../../shell/shell-route.tsx'
import { dayOf } from '../../ui/format/day-of.ts'

export const ledgerRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/billing/ledger',
  validateSearch: (search: Record<string, unknown>): LedgerFilters => {
    const kind = ENTRY_KINDS.find((name) => name === search['kind'])
    const [since, until] = [dayOf(search['since']), dayOf(search['until'])]
    return {
      ...(kind && { kind }),
      ...(since && { since }),
      ...(until && (!since || since <= until) && { until }),
    }
  },
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void context.queryClient.prefetchInfiniteQuery(ledgerQuery(deps)),
  component: lazyRouteComponent(() => import('./ledger-page.tsx'), 'LedgerPage'),
})
