import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { identityProvidersQuery } from '../../api/identity-providers.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

interface IdentityProvidersSearch {
  /** The id of the provider that is open. */
  readonly provider?: string | undefined
}

export const identityProvidersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/identity-providers',
  validateSearch: ({ provider }: Record<string, unknown>): IdentityProvidersSearch =>
    typeof provider === 'string' && provider !== '' ? { provider } : {},
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(identityProvidersQuery)
  },
  component: lazyRouteComponent(() => import('./identity-providers-page.tsx'), 'IdentityProvidersPage'),
})
