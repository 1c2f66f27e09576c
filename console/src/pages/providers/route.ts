import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { providersQuery } from '../../api/operator.ts'
import { providerHealthQuery } from '../../api/provider-health.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

interface ProvidersSearch {
  /** Shows those that are not configured too. */
  readonly all?: true | undefined
  /** The id of the provider whose details are open. */
  readonly provider?: string | undefined
}

export const providersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/providers',
  validateSearch: ({ all, provider }: Record<string, unknown>): ProvidersSearch => ({
    ...(all === true && { all }),
    ...(typeof provider === 'string' && { provider }),
  }),
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(providersQuery)
    void context.queryClient.prefetchQuery(providerHealthQuery)
  },
  component: lazyRouteComponent(() => import('./providers-page.tsx'), 'ProvidersPage'),
})
