import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { identitiesQuery } from '../../api/identities.ts'
import { passkeysQuery } from '../../api/passkeys.ts'
import { currentSessionQuery, ownSessionsQuery } from '../../api/sessions.ts'
import { shellRoute } from '../../shell/shell-route.tsx'

export const profileRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/profile',
  validateSearch: ({ link }: Record<string, unknown>): { readonly link?: string | undefined } => ({
    link: typeof link === 'string' && link !== '' ? link : undefined,
  }),
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(currentSessionQuery(''))
    void context.queryClient.prefetchQuery(ownSessionsQuery)
    void context.queryClient.prefetchQuery(passkeysQuery)
    void context.queryClient.prefetchQuery(identitiesQuery)
  },
  component: lazyRouteComponent(() => import('./profile-page.tsx'), 'ProfilePage'),
})
